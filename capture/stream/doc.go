// Package stream carries captured events from where they are seen to where they are planned: it turns runs of capture.Event into records of a
// Topic (Kafka, or memory inside one process) and back. It imports capture and the packages below it that read; it is the only importer of kafka-go.
//
// # How nothing is lost and nothing counts twice
//
// An Agent makes events durable in its directory together with the reader's position after them, in one frame, and only then sends them. A reader
// that dies goes on after the last frame. Frames are sent strictly one after the other and again until they are stored, so a topic may hold a
// record more than once, and never one before its predecessor. Each record says which agent, generation and number it has within its partition,
// and how many events came before it: who reads drops numbers it has had, and counts to the event what is missing. A session stays in one
// partition (FNV-1a of its name, modulo the number of partitions at the agent's first start).
//
// What reads a partition remembers the last 10,000 generations in it. Records of one that was forgotten could not be told from their repetition;
// they are known by the end that the partition had when their generation began, and are set aside, not counted.
//
// Partitions that are added to a topic are used by generations that begin afterwards; the others keep theirs.
//
// An agent's directory must survive. A new one is a new generation, which reads and counts its files again. It holds no value of a statement,
// except what capture/receive keeps in a folder of it until it was read.
//
// What is received (standard input, syslog) is read like files: FollowConfig.Files.Contents. How much a receiver could not receive is reported in the
// frame that says how much of it was reported, so that it counts once, too.
//
// # Records
//
//	"fsh", version 3 (one byte; version 1 had no evidence beside statements, version 2 no end of the partition)
//	name of the agent (length, bytes) · generation (8 bytes, little endian) · number · events before · events in it ·
//	  end of the partition when the generation began
//	zstd of:
//	  dictionaries, each a count and its entries (length, bytes), numbered from 0 in order of first use:
//	    templates: slots as sqltext.EncodeSlots, text
//	    origins:   session, user, database, application, client, search path
//	    tags:      team, endpoint
//	    values:    1 byte (1 null, 2 cut, the rest the set of key types), per key type 2 bytes hash slot and 8 bytes equality hash
//	  columns, each a length and its bytes, all events one after the other:
//	    flags · time (from the event before, ms; or ms and the ns beyond) · origin · template · tags · duration (µs) · transaction number
//	    (from the one before of this origin) · values (count; slot from the one before, number of the value) · what few events have
//	  report (length, CBOR of Report)
//
// Numbers are varints, signed ones zigzag. A reader refuses other versions, and sets aside what does not decode to the last byte.
//
// Measured on the shipped traffic, 5,000 events to a record (BenchmarkEncodings):
//
//	                       bytes/event   encode
//	CBOR of whole events   39.5          17.1 µs
//	rows                   24.0           5.3 µs
//	columns (this one)     23.0           2.5 µs   decode 0.8 µs
//
// Of the 23 bytes most are equality hashes, which do not compress. zstd's fastest level is as small as its default here. With 100 events to
// a record it is 72 bytes per event, for each record carries its templates: batching matters more than the layout.
package stream
