//go:build gravendebug

package codec_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/views/wrapperspbgraven"
)

// In debug mode every use of a released frame panics, and says where it was released.
func TestDebugUseAfterRelease(t *testing.T) {
	for name, use := range map[string]func(*codec.Frame[wrapperspbgraven.StringValue]){
		"View":    func(f *codec.Frame[wrapperspbgraven.StringValue]) { f.View() },
		"Bytes":   func(f *codec.Frame[wrapperspbgraven.StringValue]) { _, _ = f.Bytes() },
		"Clone":   func(f *codec.Frame[wrapperspbgraven.StringValue]) { f.Clone() },
		"Edit":    func(f *codec.Frame[wrapperspbgraven.StringValue]) { _, _ = f.Edit() },
		"Seal":    func(f *codec.Frame[wrapperspbgraven.StringValue]) { _ = f.Seal() },
		"Err":     func(f *codec.Frame[wrapperspbgraven.StringValue]) { _ = f.Err() },
		"sending": func(f *codec.Frame[wrapperspbgraven.StringValue]) { _, _ = f.Append(nil) },
		"message": func(f *codec.Frame[wrapperspbgraven.StringValue]) { proto.Size(f) },
	} {
		f, err := codec.NewFrame[wrapperspbgraven.StringValue](wrapperspb.String("x"))
		if err != nil {
			t.Fatal(err)
		}
		f.Release()
		func() {
			defer func() {
				s, _ := recover().(string)
				if !strings.Contains(s, name) || !strings.Contains(s, "TestDebugUseAfterRelease") || !strings.Contains(s, "frame_debug_test.go") {
					t.Errorf("%s: the panic says %q", name, s)
				}
			}()
			use(f)
			t.Errorf("%s on a released frame did not panic", name)
		}()
		_ = f.String() // never
		f.Release()
		if err := f.Set(wrapperspb.String("y"), codec.Options{}); err != nil || f.View().GetValue() != "y" {
			t.Errorf("used again: %v", err)
		}
		f.Release()
	}
}

// In debug mode frames that the garbage collector finds unreleased are reported with the
// place where they took their memory.
func TestDebugLeaks(t *testing.T) {
	reports := make(chan string, 100)
	report := func(s string) { reports <- s }
	codec.Leaked.Store(&report)
	defer codec.Leaked.Store(nil)
	leak := func() {
		f, err := codec.NewFrame[wrapperspbgraven.StringValue](wrapperspb.String("leaked"))
		if err != nil || f.View().GetValue() != "leaked" {
			t.Error(err)
		}
	}
	release := func() {
		f := new(codec.Frame[wrapperspbgraven.StringValue])
		frame, err := codec.Marshal(wrapperspb.String("released"))
		if err == nil {
			err = f.GravenUnmarshal(frame, nil, codec.Options{})
		}
		if err != nil {
			t.Error(err)
		}
		f.Release()
		// The caller's own memory is no leak.
		if err := f.Open(frame, codec.Options{}); err != nil {
			t.Error(err)
		}
	}
	for range 5 {
		release()
	}
	leak()
	var got []string
	for deadline := time.Now().Add(20 * time.Second); len(got) == 0 && time.Now().Before(deadline); {
		runtime.GC()
		select {
		case s := <-reports:
			got = append(got, s)
		case <-time.After(10 * time.Millisecond):
		}
	}
	runtime.GC()
	time.Sleep(50 * time.Millisecond)
	for len(reports) > 0 {
		got = append(got, <-reports)
	}
	if len(got) != 1 || !strings.Contains(got[0], "TestDebugLeaks") || !strings.Contains(got[0], "frame_debug_test.go") {
		t.Errorf("reports: %q", got)
	}
}
