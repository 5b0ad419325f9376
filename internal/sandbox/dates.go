package sandbox

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// precision is the smallest part of a date that its text names.
type precision uint8

const (
	toMilli precision = iota
	toSecond
	toMinute
	toHour
	toDay
	toMonth
	toYear
)

// parseDate reads a date in the forms of strict_date_optional_time (a space in
// place of T, and slashes, are taken as well) or as epoch milliseconds; with
// seconds, numbers are epoch seconds.
func parseDate(s string, seconds bool) (time.Time, precision, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && (len(s) != 4 || seconds) {
		if seconds {
			return time.Unix(n, 0).UTC(), toMilli, nil
		}
		return time.UnixMilli(n).UTC(), toMilli, nil
	}
	day, clock, zone := splitDate(s)
	dayForm, p := "2006-01-02", toDay
	switch len(day) {
	case 4:
		dayForm, p = "2006", toYear
	case 7:
		dayForm, p = "2006-01", toMonth
	}
	text, form := day, dayForm
	if clock != "" {
		whole, fraction, _ := strings.Cut(clock, ".")
		clockForm := ""
		switch len(whole) {
		case 2:
			clockForm, p = "15", toHour
		case 5:
			clockForm, p = "15:04", toMinute
		case 8:
			clockForm, p = "15:04:05", toSecond
		}
		if fraction != "" {
			p = toMilli
		}
		text, form = text+"T"+clock, form+"T"+clockForm
	}
	if zone != "" && zone != "Z" {
		text += zone
		form += map[int]string{3: "-07", 5: "-0700", 6: "-07:00"}[len(zone)]
	}
	t, err := time.Parse(form, text)
	if err != nil || len(day) < 4 {
		return time.Time{}, 0, fmt.Errorf("failed to parse date field [%s] with format [strict_date_optional_time||epoch_millis]", s)
	}
	return t.UTC(), p, nil
}

func splitDate(s string) (day, clock, zone string) {
	day = s
	if i := strings.IndexAny(s, "T "); i >= 0 {
		day, clock = s[:i], s[i+1:]
		if j := strings.IndexAny(clock, "Z+-"); j >= 0 {
			clock, zone = clock[:j], clock[j:]
		}
	}
	if len(day) == 10 && day[4] == '/' && day[7] == '/' {
		day = strings.ReplaceAll(day, "/", "-")
	}
	return day, clock, zone
}

// looksLikeDate is what dynamic mapping takes for a date.
func looksLikeDate(s string) bool {
	if len(s) < 10 || s[4] != s[7] || s[4] != '-' && s[4] != '/' {
		return false
	}
	_, _, err := parseDate(s, false)
	return err == nil
}

// dateMath reads a date of a query: a date, or now, followed by +n, -n or /
// and a unit. With up, what is left out or rounded off is filled with the
// largest value, as gt and lte ask for.
func dateMath(s string, now time.Time, up, seconds bool) (time.Time, error) {
	var t time.Time
	ops := ""
	if rest, ok := strings.CutPrefix(s, "now"); ok {
		t, ops = now.UTC(), rest
	} else {
		date, rest, _ := strings.Cut(s, "||")
		parsed, p, err := parseDate(date, seconds)
		if err != nil {
			return t, err
		}
		if ops = rest; up && !strings.Contains(rest, "/") {
			parsed = fillUp(parsed, p)
		}
		t = parsed
	}
	for ops != "" {
		op := ops[0]
		ops = ops[1:]
		n, digits := 1, 0
		for digits < len(ops) && ops[digits] >= '0' && ops[digits] <= '9' {
			digits++
		}
		if digits > 0 && digits < 7 {
			n, _ = strconv.Atoi(ops[:digits])
		}
		ops = ops[digits:]
		if ops == "" || digits >= 7 || op == '/' && digits > 0 || !strings.ContainsRune("+-/", rune(op)) {
			return t, fmt.Errorf("operator not supported for date math [%s]", s)
		}
		unit := ops[0]
		ops = ops[1:]
		if op == '-' {
			n = -n
		}
		var ok bool
		if op == '/' {
			t, ok = floorUnit(t, unit)
			if ok && up {
				next, _ := addUnit(t, 1, unit)
				t = next.Add(-time.Millisecond)
			}
		} else {
			t, ok = addUnit(t, n, unit)
		}
		if !ok {
			return t, fmt.Errorf("unit [%c] not supported for date math [%s]", unit, s)
		}
	}
	return t, nil
}

func fillUp(t time.Time, p precision) time.Time {
	unit := map[precision]byte{toSecond: 's', toMinute: 'm', toHour: 'h', toDay: 'd', toMonth: 'M', toYear: 'y'}[p]
	if unit == 0 {
		return t
	}
	next, _ := addUnit(t, 1, unit)
	return next.Add(-time.Millisecond)
}

func addUnit(t time.Time, n int, unit byte) (time.Time, bool) {
	switch unit {
	case 'y':
		return addMonths(t, 12*n), true
	case 'M':
		return addMonths(t, n), true
	case 'w':
		return t.AddDate(0, 0, 7*n), true
	case 'd':
		return t.AddDate(0, 0, n), true
	case 'h', 'H':
		return t.Add(time.Duration(n) * time.Hour), true
	case 'm':
		return t.Add(time.Duration(n) * time.Minute), true
	case 's':
		return t.Add(time.Duration(n) * time.Second), true
	}
	return t, false
}

// addMonths keeps the day of the month where the target month has it, and
// takes its last day otherwise.
func addMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month(), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location()).AddDate(0, n, 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

// floorUnit is the start of the unit that t lies in, in t's own zone.
func floorUnit(t time.Time, unit byte) (time.Time, bool) {
	y, m, d := t.Date()
	loc := t.Location()
	switch unit {
	case 'y':
		return time.Date(y, 1, 1, 0, 0, 0, 0, loc), true
	case 'q':
		return time.Date(y, m-(m-1)%3, 1, 0, 0, 0, 0, loc), true
	case 'M':
		return time.Date(y, m, 1, 0, 0, 0, 0, loc), true
	case 'w':
		return time.Date(y, m, d-(int(t.Weekday())+6)%7, 0, 0, 0, 0, loc), true
	case 'd':
		return time.Date(y, m, d, 0, 0, 0, 0, loc), true
	case 'h', 'H':
		_, secs := t.Zone()
		shift := time.Duration(secs) * time.Second
		return t.Add(shift).Truncate(time.Hour).Add(-shift), true
	case 'm':
		return t.Truncate(time.Minute), true
	case 's':
		return t.Truncate(time.Second), true
	}
	return t, false
}

// dateText is how answers write a date.
func dateText(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// javaForm turns the common date patterns of Java into Go's.
func javaForm(pattern string) (form string, ok bool) {
	switch pattern {
	case "strict_date_optional_time", "date_optional_time", "strict_date_time", "date_time":
		return "2006-01-02T15:04:05.000Z07:00", true
	case "strict_date", "date":
		return "2006-01-02", true
	}
	form = strings.NewReplacer("yyyy", "2006", "uuuu", "2006", "MM", "01", "dd", "02", "HH", "15",
		"mm", "04", "SSS", "000", "ss", "05", "'T'", "T", "'Z'", "Z", "XXX", "Z07:00").Replace(pattern)
	rest := strings.Trim(form, "0123456789-/.: TZ")
	return form, rest == "" && form != ""
}
