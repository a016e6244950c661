package main

import (
	controllerconfig "github.com/cert-manager/cert-manager/internal/apis/config/controller"
	"github.com/cert-manager/cert-manager/pkg/controller"
)

// certificateOptions returns the options about Certificates, as cert-manager 1.20 has them.
func certificateOptions(cfg *controllerconfig.ControllerConfiguration) controller.CertificateOptions {
	return controller.CertificateOptions{
		EnableOwnerRef:                           cfg.EnableCertificateOwnerRef,
		CopiedAnnotationPrefixes:                 cfg.CopiedAnnotationPrefixes,
		CertificateRequestMinimumBackoffDuration: cfg.CertificateRequestMinimumBackoffDuration,
	}
}
