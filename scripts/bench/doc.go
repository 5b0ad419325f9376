// Command bench measures esshadow on one machine, beside its peers and in the
// same run: the packages in MB/s against two JSON libraries, the proxy against
// nginx, haproxy, a ReverseProxy and no proxy at all, the replayer's speed and
// its lateness.
//
// It promises ratios of figures that were taken seconds apart, alternating, and
// says on what machine. It starts its own load, its own answering server and
// its own proxies on ports of 127.0.0.1 that the kernel chooses, ends them all,
// and leaves no file behind.
//
// It refuses to compare with figures of another run or machine, and it judges
// nothing: docs/benchmarks.md says what each figure means.
package main
