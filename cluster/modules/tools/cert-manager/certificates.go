package main

import (
	controllerconfig "github.com/cert-manager/cert-manager/internal/apis/config/controller"
	"github.com/cert-manager/cert-manager/pkg/controller"
)

// certificateOptions returns the options about Certificates. cert-manager 1.20 has no maximum for its back-off: modules/older-cert-manager
// has a file of this name without it. In 1.21 a missing maximum is 0, and the back-off would always have the minimum.
func certificateOptions(cfg *controllerconfig.ControllerConfiguration) controller.CertificateOptions {
	return controller.CertificateOptions{
		EnableOwnerRef:                           cfg.EnableCertificateOwnerRef,
		CopiedAnnotationPrefixes:                 cfg.CopiedAnnotationPrefixes,
		CertificateRequestMinimumBackoffDuration: cfg.CertificateRequestMinimumBackoffDuration,
		CertificateRequestMaximumBackoffDuration: cfg.CertificateRequestMaximumBackoffDuration,
	}
}
