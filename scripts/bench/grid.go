package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// grid is a table, printed as Markdown that is also readable as it stands.
type grid struct {
	title string
	head  []string
	rows  [][]string
}

func (g *grid) print(w io.Writer) {
	width := make([]int, len(g.head))
	for _, row := range append([][]string{g.head}, g.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell), 3)
		}
	}
	var b strings.Builder
	line := func(row []string) {
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString("| " + cell + pad + " |")
			} else {
				b.WriteString(" " + pad + cell + " |")
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n### " + g.title + "\n\n")
	line(g.head)
	for i, n := range width {
		if i == 0 {
			b.WriteString("|" + strings.Repeat("-", n+2) + "|")
		} else {
			b.WriteString(strings.Repeat("-", n+1) + ":|")
		}
	}
	b.WriteByte('\n')
	for _, row := range g.rows {
		line(row)
	}
	_, _ = io.WriteString(w, b.String())
}

// median is 0 of nothing, and the mean of both middle values of an even number.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// ratio is the median of a[i]/b[i]; – where there is no such pair.
func ratio(a, b []float64) string {
	return paired(a, b, "%.2f", func(x, y float64) float64 { return x / y })
}

// difference is the median of a[i]−b[i].
func difference(a, b []float64) string {
	return paired(a, b, "%.0f", func(x, y float64) float64 { return x - y })
}

func paired(a, b []float64, format string, of func(x, y float64) float64) string {
	var out []float64
	for i := range min(len(a), len(b)) {
		if b[i] > 0 {
			out = append(out, of(a[i], b[i]))
		}
	}
	if len(out) == 0 {
		return "–"
	}
	return fmt.Sprintf(format, median(out))
}
