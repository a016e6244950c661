// Package ngts is a stand-in for the package of this name in vcert 5.13, Venafi's client. cert-manager 1.21 requires it, and module
// proxies do not always serve vcert 5.13. cluster/build.sh adds this file to a copy of vcert 5.12. Delete the stand-in when
// `go mod download github.com/Venafi/vcert/v5` downloads the version that go.mod requires.
package ngts

import "github.com/Venafi/vcert/v5/pkg/venafi/cloud"

// Connector has the methods that cert-manager calls. It connects to nothing: the local cluster has no issuer of Venafi.
type Connector struct{ cloud.Connector }
