package service

import (
	"net"
	"net/http"
)

// Handler is what a service would answer with at an address that a test may not listen at.
func Handler(s *Service, at net.Addr) http.Handler { return s.serving(at) }
