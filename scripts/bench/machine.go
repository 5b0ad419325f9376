package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine says what the figures were measured on. What cannot be found out is
// left out.
func machine(w io.Writer) {
	_, _ = fmt.Fprintf(w, "\n- %s, %d cores, %s/%s, %s\n", time.Now().UTC().Format(time.RFC3339), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, f := range []struct{ what, path, key string }{
		{"processor", "/proc/cpuinfo", "model name"},
		{"memory", "/proc/meminfo", "MemTotal"},
		{"kernel", "/proc/sys/kernel/osrelease", ""},
		{"load average before", "/proc/loadavg", ""},
	} {
		if v := firstValue(f.path, f.key); v != "" {
			_, _ = fmt.Fprintf(w, "- %s: %s\n", f.what, v)
		}
	}
	var load float64
	if _, err := fmt.Sscan(firstValue("/proc/loadavg", ""), &load); err == nil && load > float64(runtime.NumCPU())/4 {
		_, _ = fmt.Fprintln(w, "- THE MACHINE WAS NOT QUIET: trust the ratios of processor time, and no latency")
	}
	for _, peer := range [][]string{{"nginx", "/usr/sbin/nginx"}, {"haproxy", "/usr/sbin/haproxy"}} {
		for _, name := range peer {
			// nginx prints its version on standard error.
			if v, err := exec.Command(name, "-v").CombinedOutput(); err == nil {
				line, _, _ := strings.Cut(string(v), "\n")
				_, _ = fmt.Fprintf(w, "- %s\n", line)
				break
			}
		}
	}
}

// firstValue is the first line of a file, or its first value of a key.
func firstValue(path, key string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if key == "" {
			return s.Text()
		}
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
