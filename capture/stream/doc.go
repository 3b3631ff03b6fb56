// Package stream carries captured events from where they are seen to where they are planned: it turns runs of capture.Event into records of a
// Topic (Kafka, or memory inside one process) and back. It imports capture and its readers; it is the only importer of kafka-go.
package stream
