package stream

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

// answered is an error of the library in few words, and still the error that it is.
type answered struct {
	err  error
	text string
}

func (e *answered) Error() string { return e.text }
func (e *answered) Unwrap() error { return e.err }

// inLibrary is where in the library an error came about.
var inLibrary = regexp.MustCompile(`kafka\.\(\*[A-Za-z]+\)\.[A-Za-z]+: |(produce|fetch) request error: `)

// brief shortens an error of the library: what a broker answers comes with a number and a paragraph of explanation, and what a request met
// with the name of a function. Both would stand in every line of a log about what is tried again.
func brief(err error) error {
	if err == nil {
		return nil
	}
	text := inLibrary.ReplaceAllString(err.Error(), "")
	var code kafka.Error
	if errors.As(err, &code) {
		text = strings.Replace(text, code.Error(), strings.ToLower(code.Title()), 1)
	}
	if text == err.Error() {
		return err
	}
	return &answered{err, text}
}

// settleTime is how long a broker's answer that passes by itself is not worth a line: a topic and a group that are new have no leader and no
// coordinator in their first moments.
const settleTime = 2 * time.Second

// Settling says that an error of a topic is one that a broker gives while it chooses a leader or learns of a topic, and that it has not been
// trying for long: pause is the time until the next try, which doubles.
func Settling(err error, pause time.Duration) bool {
	var code kafka.Error
	return errors.As(err, &code) && code.Temporary() && 2*pause < settleTime
}

// sendErrors are what kept records from partitions, those with one cause in one line, always in the same order.
func sendErrors(topic string, errs map[int]error) error {
	by := map[string][]int{}
	causes := map[string]error{}
	for p, err := range errs {
		if err != nil {
			by[err.Error()] = append(by[err.Error()], p)
			causes[err.Error()] = err
		}
	}
	var texts []string
	for text, partitions := range by {
		slices.Sort(partitions)
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return by[a][0] - by[b][0] })
	var all []error
	for _, text := range texts {
		word := "partitions"
		if len(by[text]) == 1 {
			word = "partition"
		}
		list := strings.Trim(strings.ReplaceAll(fmt.Sprint(by[text]), " ", ", "), "[]")
		all = append(all, fmt.Errorf("send to topic %q, %s %s: %w", topic, word, list, causes[text]))
	}
	return errors.Join(all...)
}

// missing adds what to do to the error of a topic that is not there.
func missing(err error, create bool) error {
	if create || !errors.Is(err, kafka.UnknownTopicOrPartition) {
		return err
	}
	return fmt.Errorf("%w: give --create-topic, or the --topic that capture and plan share", err)
}

// joinNote says why a group is not joined yet. A broker's first answers about a new group are none.
func (k *Kafka) joinNote(ctx context.Context, group string, err error, tries int) {
	if ctx.Err() == nil && !Settling(err, time.Duration(tries)*time.Second/10) {
		k.cfg.Note(fmt.Errorf("join group %q: %w", group, brief(err)))
	}
}
