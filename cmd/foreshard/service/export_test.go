package service

import (
	"net"
	"net/http"
	"time"
)

// Handler is what a service would answer with at an address that a test may not listen at.
func Handler(s *Service, at net.Addr) http.Handler { return s.serving(at) }

// Say is whether a service says a text at some time, and how often it was hushed before.
func Say(s *Service, text string, now time.Time) (hushed int, say bool) {
	return s.again.say(text, now)
}
