package stream

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

func TestBrief(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{kafka.UnknownTopicOrPartition, "unknown topic or partition"},
		{fmt.Errorf("kafka.(*Client).Metadata: %w", errors.New("dial tcp: refused")), "dial tcp: refused"},
		{fmt.Errorf("kafka.(*Client).Fetch: fetch request error: %w", errors.New(`topic not found (topic="a")`)), `topic not found (topic="a")`},
		{fmt.Errorf("%w: Topic name is invalid", kafka.InvalidTopic), "invalid topic: Topic name is invalid"},
		{errors.New("as it is"), "as it is"},
	} {
		got := brief(c.err)
		if got.Error() != c.want || !errors.Is(got, c.err) {
			t.Errorf("brief(%v) = %v, want %q", c.err, got, c.want)
		}
	}
	if brief(nil) != nil {
		t.Error("no error became one")
	}
}

// The order of partitions must not differ from try to try, and one cause must be one line: else a log says the same again and again.
func TestSendErrors(t *testing.T) {
	gone := errors.New("gone")
	err := sendErrors("t", map[int]error{7: gone, 3: gone, 1: nil, 0: kafka.NotLeaderForPartition})
	want := "send to topic \"t\", partition 0: " + kafka.NotLeaderForPartition.Error() + "\nsend to topic \"t\", partitions 3, 7: gone"
	if err == nil || err.Error() != want || !errors.Is(err, gone) || !errors.Is(err, kafka.NotLeaderForPartition) {
		t.Errorf("%v\nwant %s", err, want)
	}
	if err := sendErrors("t", map[int]error{0: nil, 1: nil}); err != nil {
		t.Error(err)
	}
}

func TestSettling(t *testing.T) {
	wrapped := fmt.Errorf("read: %w", brief(kafka.LeaderNotAvailable))
	for _, c := range []struct {
		err   error
		pause time.Duration
		want  bool
	}{
		{wrapped, firstPause, true},
		{wrapped, lastPause, false},
		{kafka.TopicAuthorizationFailed, firstPause, false},
		{errors.New("dial tcp: refused"), firstPause, false},
	} {
		if got := Settling(c.err, c.pause); got != c.want {
			t.Errorf("Settling(%v, %s) = %v", c.err, c.pause, got)
		}
	}
}

func TestMissingTopicSaysTheFix(t *testing.T) {
	if err := missing(brief(kafka.UnknownTopicOrPartition), false); !strings.Contains(err.Error(), "--create-topic") || !errors.Is(err, kafka.UnknownTopicOrPartition) {
		t.Error(err)
	}
	if err := missing(kafka.InvalidTopic, false); err != kafka.InvalidTopic {
		t.Error(err)
	}
}
