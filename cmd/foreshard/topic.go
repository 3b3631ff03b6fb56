package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/foreshard/foreshard/capture/stream"
)

// topicFlags say where the topic is that carries captured traffic.
type topicFlags struct {
	brokers                  []string
	topic                    string
	tls                      bool
	ca, cert, key            string
	sasl, user, passwordFile string
	create                   bool
	partitions, replication  int
	session                  time.Duration
}

func (f *topicFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.brokers, "brokers", nil, "brokers of the Kafka cluster as HOST:PORT, one or several")
	flags.StringVar(&f.topic, "topic", "foreshard", "topic that carries the traffic")
	flags.BoolVar(&f.create, "create-topic", false, "make the topic, and TOPIC.unreadable for records that cannot be read, if they are not there")
	flags.IntVar(&f.partitions, "partitions", 8, "partitions of a topic that is made")
	flags.IntVar(&f.replication, "replication", 0, "copies of a topic that is made; 0 means the brokers' default")
	flags.BoolVar(&f.tls, "tls", false, "speak TLS to the brokers")
	flags.StringVar(&f.ca, "tls-ca", "", "file of certificates to trust besides the system's")
	flags.StringVar(&f.cert, "tls-cert", "", "file of the certificate to show, if the brokers ask for one")
	flags.StringVar(&f.key, "tls-key", "", "file of its key")
	flags.StringVar(&f.sasl, "sasl", "", "how to log in: plain, scram-sha-256, scram-sha-512")
	flags.StringVar(&f.user, "sasl-user", "", "user to log in as")
	flags.StringVar(&f.passwordFile, "sasl-password-file", "", "file whose first line is the password")
}

// open connects to the topic. note is called with what is being tried again. later does not mind brokers that cannot be reached now.
func (f *topicFlags) open(ctx context.Context, note func(error), later bool) (*stream.Kafka, error) {
	if len(f.brokers) == 0 {
		return nil, errors.New("no brokers: give --brokers HOST:PORT of the Kafka cluster")
	}
	if f.partitions < 1 || f.replication < 0 {
		return nil, errors.New("--partitions must be 1 or more, --replication 0 or more")
	}
	cfg := stream.KafkaConfig{Brokers: f.brokers, Topic: f.topic, Create: f.create, Partitions: f.partitions, Replication: f.replication, Session: f.session, Note: note, Later: later}
	if f.tls || f.ca != "" || f.cert != "" {
		var err error
		if cfg.TLS, err = stream.TLS(f.ca, f.cert, f.key); err != nil {
			return nil, err
		}
	}
	if f.sasl != "" {
		var err error
		if cfg.SASL, err = stream.Login(f.sasl, f.user, f.passwordFile); err != nil {
			return nil, err
		}
	}
	return stream.OpenKafka(ctx, cfg)
}
