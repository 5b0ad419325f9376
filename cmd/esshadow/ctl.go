package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/esshadow/esshadow/capture"
)

// ctl speaks to a running proxy's admin address.
type ctl struct {
	s     *streams
	admin string
	token string // file
	json  bool
	wait  time.Duration
}

func newCtlCmd(s *streams) *cobra.Command {
	k := &ctl{s: s}
	c := &cobra.Command{
		Use:   "ctl",
		Short: "Look at a running proxy, and change it",
		Long: `ctl asks a running proxy on its admin address. Without a token it is heard on
the proxy's own machine only, and only if the admin address is of that machine;
else the proxy needs --admin-token-file, and ctl the same token by --token-file.`,
		Example: "  esshadow ctl status\n  esshadow ctl capture off\n  esshadow ctl sample 0.1 --admin 10.0.0.7:9281 --token-file token",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		k.command("status", "Show what the proxy does", 0, func([]string) (string, any) { return "status", nil }),
		k.command("capture on|off", "Switch capturing on or off; traffic passes in both", 1, func(a []string) (string, any) {
			return "capture", map[string]string{"state": a[0]}
		}),
		k.command("mirror on|off", "Switch mirroring on or off; what is not mirrored is counted", 1, func(a []string) (string, any) {
			return "mirror", map[string]string{"state": a[0]}
		}),
		k.sampleCommand(),
		k.command("rotate", "Close the capture's file and begin another", 0, func([]string) (string, any) { return "rotate", struct{}{} }),
		k.command("reload", "Read configuration and certificates again, as SIGHUP does", 0, func([]string) (string, any) { return "reload", struct{}{} }),
		k.command("drain", "End the proxy as SIGTERM does: requests in flight are answered", 0, func([]string) (string, any) { return "drain", struct{}{} }),
		k.command("log-level LEVEL", "Log from debug, info, warn or error on, until a reload", 1, func(a []string) (string, any) {
			return "log-level", map[string]string{"level": a[0]}
		}),
	)
	return c
}

// sampleCommand checks the ratio itself, since not every number can be sent, and one
// below 0 looks like a flag.
func (k *ctl) sampleCommand() *cobra.Command {
	wrong := func(text string) error {
		return usage("ctl sample %q: want a ratio: a number from 0 to 1, such as 0.1 for a tenth of the connections", text)
	}
	c := k.command("sample RATIO", "Capture this part of the connections, 0 to 1, until a reload", 1, func(a []string) (string, any) {
		ratio, _ := strconv.ParseFloat(a[0], 64) // Args has looked at it
		return "sample", map[string]float64{"ratio": ratio}
	})
	count := c.Args
	c.Args = func(c *cobra.Command, a []string) error {
		if err := count(c, a); err != nil {
			return err
		}
		if ratio, err := strconv.ParseFloat(a[0], 64); err != nil || !(ratio >= 0 && ratio <= 1) {
			return wrong(a[0])
		}
		return nil
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			text := "-" + unknown.GetSpecifiedShortnames()
			if _, notNumber := strconv.ParseFloat(text, 64); notNumber == nil {
				return wrong(text)
			}
		}
		return c.Root().FlagErrorFunc()(c, err)
	})
	return c
}

// command is one deed. ask turns its arguments into the request; a nil body
// makes it a GET.
func (k *ctl) command(use, short string, args int, ask func([]string) (deed string, body any)) *cobra.Command {
	name, _, _ := strings.Cut(use, " ")
	c := &cobra.Command{
		Use: use, Short: short, Example: "  esshadow ctl " + exampleOf(name),
		Args: func(c *cobra.Command, a []string) error {
			if len(a) != args {
				_, want, _ := strings.Cut(use, " ")
				return usage("%s: want %s\nSee '%s --help'.", c.CommandPath(), cmp.Or(want, "no arguments"), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, a []string) error {
			deed, body := ask(a)
			return k.run(c.Context(), deed, body)
		},
	}
	f := c.Flags()
	f.StringVar(&k.admin, "admin", "127.0.0.1:9281", "the proxy's admin `address`")
	f.StringVar(&k.token, "token-file", "", "`file` with the proxy's token")
	f.BoolVar(&k.json, "json", false, "print the proxy's answer as it comes")
	f.DurationVar(&k.wait, "timeout", 15*time.Second, "time for the answer")
	return c
}

func exampleOf(name string) string {
	return map[string]string{"capture": "capture off", "mirror": "mirror off", "sample": "sample 0.1", "log-level": "log-level debug"}[name] +
		map[bool]string{true: name}[name == "status" || name == "rotate" || name == "reload" || name == "drain"]
}

// maxCtlAnswer bounds what ctl reads.
const maxCtlAnswer = 1 << 20

func (k *ctl) run(ctx context.Context, deed string, body any) error {
	code, text, err := k.ask(ctx, deed, body)
	if err != nil {
		return err
	}
	if k.json {
		if _, err := k.s.out.Write(text); err != nil {
			return err
		}
	}
	if code != http.StatusOK {
		var a struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(text, &a) != nil || a.Error == "" {
			a.Error = "no reason given"
		}
		err := fmt.Errorf("ctl %s: %s (status %d)", deed, a.Error, code)
		switch code {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
			return refused(err)
		case http.StatusBadRequest, http.StatusUnprocessableEntity:
			return &codeError{exitUsage, err}
		}
		return err
	}
	if k.json {
		return nil
	}
	return k.print(deed, text)
}

func (k *ctl) ask(ctx context.Context, deed string, body any) (code int, text []byte, err error) {
	ctx, stop := context.WithTimeout(ctx, k.wait)
	defer stop()
	address := k.admin
	if !strings.Contains(address, "://") {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return 0, nil, usage("--admin %q: want host:port, as 'esshadow proxy' names it when it listens", address)
		}
		address = "http://" + address
	}
	method, payload := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		if payload, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	q, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(address, "/")+"/control/"+deed, bytes.NewReader(payload))
	if err != nil {
		return 0, nil, usage("--admin: want host:port")
	}
	if k.token != "" {
		token, err := os.ReadFile(k.token)
		if err != nil {
			return 0, nil, usage("--token-file: %w", err)
		}
		q.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	transport := &http.Transport{DisableKeepAlives: true} // no proxy between: the token is for one only
	res, err := (&http.Client{Transport: transport}).Do(q)
	if err != nil {
		var asked *url.Error // its text repeats the URL
		if errors.As(err, &asked) {
			err = asked.Err
		}
		return 0, nil, refused(fmt.Errorf("ctl %s: no proxy answers on --admin %s: %w", deed, k.admin, err))
	}
	defer func() { _ = res.Body.Close() }()
	if res.Header.Get("Server") != controlServer {
		return 0, nil, notAdmin(deed, k.admin)
	}
	text, err = io.ReadAll(io.LimitReader(res.Body, maxCtlAnswer))
	return res.StatusCode, text, err
}

// notAdmin says that somebody answers who is no proxy's admin address: the cluster, to
// which a proxy's address for clients leads too.
func notAdmin(deed, address string) error {
	return usage("ctl %s: --admin %s: what answers there is no admin address of an esshadow proxy: want the one that 'esshadow proxy' names as 'admin on' when it listens", deed, address)
}

// print tells people what a proxy answered.
func (k *ctl) print(deed string, text []byte) error {
	w := k.s.out
	switch deed {
	case "status":
		var r statusReport
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("ctl status: %w", err)
		}
		printStatus(w, &r)
	case "reload":
		var r reloadResult
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("ctl reload: %w", err)
		}
		fmt.Fprintf(w, "reloaded; changed: %s\n", keyList(r.Changed))
		if len(r.Restart) > 0 {
			fmt.Fprintf(w, "these differ and need a restart: %s\n", keyList(r.Restart))
		}
	default:
		var facts map[string]any
		if err := json.Unmarshal(text, &facts); err != nil {
			return fmt.Errorf("ctl %s: %w", deed, err)
		}
		for _, key := range slices.Sorted(maps.Keys(facts)) {
			fmt.Fprintf(w, "%s: %v\n", key, facts[key])
		}
	}
	return nil
}

func keyList(keys []string) string {
	if len(keys) == 0 {
		return "nothing"
	}
	return strings.Join(keys, ", ")
}

func printStatus(w io.Writer, r *statusReport) {
	fmt.Fprintf(w, "esshadow %s, %s since %s, process %d\n", r.Version, r.State, r.Started.Format(time.RFC3339), r.PID)
	fmt.Fprintf(w, "listens on %s: %d requests on %d connections, %d in flight, %d answered without asking the cluster\n",
		r.Proxy.Listen, r.Proxy.Requests, r.Proxy.Connections, r.Proxy.InFlight, r.Proxy.Own)
	for _, u := range r.Upstreams {
		state := "up"
		if !u.Up {
			state = "DOWN"
		}
		fmt.Fprintf(w, "upstream %s: %s, %d in flight, %d connections\n", u.Upstream, state, u.InFlight, u.Connections)
	}
	c := &r.Capture
	fmt.Fprintf(w, "capture %s", c.State)
	if c.Why != "" {
		fmt.Fprintf(w, ", nothing can be written: %s", c.Why)
	}
	if c.Dir != "" {
		fmt.Fprintf(w, " (preset %s, sample %v) in %s: received %d = captured %d + filtered %d%s + sampled out %d + dropped %d%s + pending %d; %d bytes of lines in %d bytes of files",
			c.Preset, c.Sample, c.Dir, c.Received, c.Captured, capture.Sum(c.Filtered), reasons(c.Filtered), c.SampledOut,
			capture.Sum(c.Dropped), reasons(c.Dropped), c.Pending, c.Raw, c.Written)
	}
	if len(c.Detected) > 0 {
		fmt.Fprintf(w, "; detectors found %d kept values%s", capture.Sum(c.Detected), reasons(c.Detected))
	}
	fmt.Fprintln(w)
	if m := r.Mirror; m != nil {
		printMirror(w, m)
	}
	fmt.Fprintf(w, "log level %s\n", r.Log.Level)
	if r.Config.File != "" {
		fmt.Fprintf(w, "configuration %s\n", r.Config.File)
	}
	if l := r.Config.Reload; l != nil && l.OK {
		fmt.Fprintf(w, "reloaded at %s; changed: %s; needs a restart: %s\n", l.Time.Format(time.RFC3339), keyList(l.Changed), keyList(l.Restart))
	} else if l != nil {
		fmt.Fprintf(w, "RELOAD FAILED at %s, the old configuration holds: %s\n", l.Time.Format(time.RFC3339), l.Error)
	}
}

func printMirror(w io.Writer, m *mirrorStatus) {
	fmt.Fprintf(w, "mirror %s to %s, breaker %s", m.State, m.Target, m.Breaker)
	if m.Why != "" {
		fmt.Fprintf(w, " (%s)", m.Why)
	}
	fmt.Fprintf(w, ", sample %v: offered %d = sent %d + refused %d%s + sampled out %d + shed %d%s + pending %d; answered %d, errors %d%s, differences %d%s\n",
		m.Sample, m.Offered, m.Sent, sum(m.Refused), reasons(m.Refused), m.SampledOut, sum(m.Shed), reasons(m.Shed), m.Pending,
		m.Answered, sum(m.Errors), reasons(m.Errors), sum(m.Differences), reasons(m.Differences))
	fmt.Fprintf(w, "mirror outcomes in %s: disk %s, %d written, %d lost\n", m.Dir, m.Disk, m.Written, m.Lost)
}
