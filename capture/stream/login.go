package stream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Login makes the SASL mechanism of a name (plain, scram-sha-256, scram-sha-512); the password is the first line of a file, which a process list
// does not show.
func Login(mechanism, user, passwordFile string) (sasl.Mechanism, error) {
	if user == "" || passwordFile == "" {
		return nil, fmt.Errorf("log in with %s: name the user and a file that holds the password", mechanism)
	}
	text, err := os.ReadFile(passwordFile)
	if err != nil {
		return nil, fmt.Errorf("read password: %w", err)
	}
	password, _, _ := strings.Cut(string(text), "\n")
	password = strings.TrimSuffix(password, "\r")
	switch strings.ToLower(mechanism) {
	case "plain":
		return plain.Mechanism{Username: user, Password: password}, nil
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, user, password)
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, user, password)
	}
	return nil, fmt.Errorf("log in: %q is none of plain, scram-sha-256, scram-sha-512", mechanism)
}

// TLS makes a client's configuration: the certificates it trusts besides the system's (PEM; "" none), and one of its own if the brokers ask.
func TLS(caFile, certFile, keyFile string) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		text, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("read certificates: %w", err)
		}
		if cfg.RootCAs, err = x509.SystemCertPool(); err != nil {
			cfg.RootCAs = x509.NewCertPool() // a machine without certificates of its own
		}
		if !cfg.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read certificates: %q holds none", caFile)
		}
	}
	if (certFile == "") != (keyFile == "") {
		return nil, errors.New("read certificate: give the certificate and its key, both or none")
	}
	if certFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("read certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
