package audit

import "bytes"

// numbers calls yield with every number that a detector of digits takes: whether
// it is a hit, and how likely a random number of its length is one.
func numbers(text []byte, cards *[20]float64, yield func(kind string, v []byte, hit bool, odds float64)) {
	eachNumber(text, func(digits []byte, joined, check bool) {
		n := len(digits)
		switch {
		case check: // 17 digits and an X, which no permutation of digits gives
			yield("resident_id", digits, residentID(digits), 0)
			return
		case n == 11 && digits[0] != '0':
			yield("phone", digits, mobileCN(digits), oddsMobileCN)
		case n == 13 && bytes.HasPrefix(digits, []byte("86")):
			yield("phone", digits, mobileCN(digits[2:]), oddsMobileCN)
		case n == 15 && bytes.HasPrefix(digits, []byte("0086")):
			yield("phone", digits, mobileCN(digits[4:]), oddsMobileCN)
		case n == 18:
			yield("resident_id", digits, residentID(digits), oddsResidentID)
		}
		if n < len(cards) && cards[n] > 0 && (joined || digits[0] != '0') {
			yield("card", digits, card(digits), cards[n])
		}
	})
}

// eachNumber finds digits that stand by themselves, in one run or in runs with
// one separator between, as telephone and card numbers are written. check tells
// the check character X behind 17 digits, which is then in digits.
func eachNumber(text []byte, yield func(digits []byte, joined, check bool)) {
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		start := i
		end := runOfDigits(text, i)
		i = end
		if start > 0 && isAlnum(text[start-1]) {
			continue
		}
		if end-start == 17 && end < len(text) && text[end]|0x20 == 'x' && (end+1 == len(text) || !isAlnum(text[end+1])) {
			yield(append(bytes.Clone(text[start:end]), 'X'), false, true)
			continue
		}
		if end < len(text) && isLetter(text[end]) {
			continue
		}
		yield(text[start:end], false, false)
		if digits, stop := group(text, start, end); stop > end {
			yield(digits, true, false)
			i = stop
		}
	}
}

func runOfDigits(text []byte, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

// group joins runs of digits, all with the same separator between: 4111 1111
// 1111 1111, 138-0013-8000.
func group(text []byte, start, end int) ([]byte, int) {
	if end-start > 7 || end+1 >= len(text) || text[end] != ' ' && text[end] != '-' {
		return nil, end
	}
	sep := text[end]
	digits := bytes.Clone(text[start:end])
	for end+1 < len(text) && text[end] == sep && isDigit(text[end+1]) && len(digits) < 24 {
		next := runOfDigits(text, end+1)
		if next < len(text) && isLetter(text[next]) || next-end-1 < 3 {
			break
		}
		digits = append(digits, text[end+1:next]...)
		end = next
	}
	return digits, end
}

// oddsMobileCN: the first digit is 1 (of nine, none is 0), the second 3 to 9.
const oddsMobileCN = 1.0 / 9 * 7 / 10

// mobileCN tells a mobile number of mainland China.
func mobileCN(d []byte) bool { return len(d) == 11 && d[0] == '1' && d[1] >= '3' }

// oddsResidentID: of 10^8 dates about 73 000 are valid ones of 1850 to 2049, one
// check digit of eleven fits, and the region begins with 1 to 8.
const oddsResidentID = 73000.0 / 1e8 / 11

// residentID tells a resident number of mainland China (GB 11643-1999).
func residentID(d []byte) bool {
	if len(d) != 18 || d[0] < '1' || d[0] > '8' {
		return false
	}
	num := func(s []byte) (n int) {
		for _, c := range s {
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := num(d[6:10]), num(d[10:12]), num(d[12:14])
	if year < 1850 || year > 2049 || month < 1 || month > 12 || day < 1 || day > 31 {
		return false
	}
	sum := 0
	for i, w := range []int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2} {
		sum += w * int(d[i]-'0')
	}
	return d[17] == "10X98765432"[sum%11]
}

// card tells a payment card: range of the issuer, length, check digit (Luhn).
func card(d []byte) bool {
	if len(d) < 13 || len(d) > 19 {
		return false
	}
	return issuer(int(d[0]-'0')*1000+int(d[1]-'0')*100+int(d[2]-'0')*10+int(d[3]-'0'), len(d)) && luhn(d)
}

// issuer tells that cards of n digits begin with these four.
func issuer(four, n int) bool {
	two, three := four/100, four/10
	switch {
	case four/1000 == 4: // Visa
		return n == 13 || n == 16 || n == 19
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720: // Mastercard
		return n == 16
	case two == 34, two == 37: // American Express
		return n == 15
	case two == 36, two == 38, three >= 300 && three <= 305: // Diners
		return n == 14 || n == 16
	case four == 6011, two == 65, three >= 644 && three <= 649: // Discover
		return n == 16 || n == 19
	case two == 62: // UnionPay
		return n >= 16
	case four >= 3528 && four <= 3589: // JCB
		return n == 16 || n == 19
	}
	return false
}

func luhn(d []byte) bool {
	sum := 0
	for i := range d {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

// oddsOfCards says, by length, how likely a random number, the first digit of
// which is not 0, passes for a card; 0 where no card has that length.
func oddsOfCards() (odds [20]float64) {
	for n := 13; n < len(odds); n++ {
		hits := 0
		for four := 1000; four < 10000; four++ {
			if issuer(four, n) {
				hits++
			}
		}
		odds[n] = float64(hits) / 9000 / 10
	}
	return odds
}
