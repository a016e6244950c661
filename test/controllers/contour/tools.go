//go:build tools

package tools

import _ "github.com/projectcontour/contour/cmd/contour"
