package sanitize

// isKeyword tells the words of the languages that are neither names nor
// functions.
func isKeyword(up string) bool {
	switch up {
	case "ALL", "AND", "ANY", "AS", "ASC", "BETWEEN", "BY", "CASE", "COLUMNS", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP",
		"DESC", "DISTINCT", "ELSE", "END", "ESCAPE", "EXISTS", "FALSE", "FIRST", "FOR", "FROM", "FULL", "GROUP", "HAVING", "ILIKE",
		"IN", "INNER", "INTERVAL", "IS", "JOIN", "LAST", "LEFT", "LIKE", "LIMIT", "MAXSPAN", "METADATA", "MISSING", "NATURAL", "NOT",
		"NULL", "NULLS", "OF", "OFFSET", "ON", "OR", "ORDER", "OUTER", "OVER", "PARTITION", "REGEX", "REGEXP", "RIGHT", "RLIKE",
		"RUNS", "SELECT", "SEQUENCE", "SAMPLE", "THEN", "TO", "TOP", "TRUE", "UNION", "UNTIL", "USING", "WHEN", "WHERE", "WITH", "XOR",
		"CROSS", "SEMI", "ANTI", "EXCEPT", "DEDUP", "REPLACE", "APPEND", "FIELDS", "INTO", "SOURCE", "INDEX", "EXPLAIN", "SHOW",
		"CATALOGS", "FUNCTIONS", "DESCRIBE", "FROZEN", "PIVOT", "MINUS", "BOTH", "LEADING", "TRAILING":
		return true
	}
	return false
}

// isBoth tells keywords that are functions where a parenthesis follows.
func isBoth(up string) bool {
	switch up {
	case "LEFT", "RIGHT", "LIKE", "ILIKE", "RLIKE", "REGEXP", "REPLACE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "FIRST",
		"LAST", "DISTINCT", "INTERVAL", "TOP", "SAMPLE":
		return true
	}
	return false
}

// isListWord tells keywords before the parenthesis of a list of values.
func isListWord(up string) bool {
	switch up {
	case "IN", "LIKE", "RLIKE", "REGEX", "REGEXP", "ILIKE":
		return true
	}
	return false
}

// isCommand tells the commands that a step of a pipe may begin with.
func isCommand(lang language, up string) bool {
	switch up {
	case "WHERE", "EVAL", "STATS", "SORT", "RENAME", "GROK", "JOIN":
		return lang == langPPL || up != "JOIN"
	}
	if lang == langPPL {
		switch up {
		case "SOURCE", "INDEX", "SEARCH", "FIELDS", "TABLE", "DEDUP", "HEAD", "TOP", "RARE", "PARSE", "REX", "REGEX", "PATTERNS", "LOOKUP",
			"APPEND", "APPENDCOL", "APPENDPIPE", "BIN", "CHART", "TIMECHART", "EVENTSTATS", "STREAMSTATS", "EXPAND", "FILLNULL", "FLATTEN",
			"SPATH", "TRENDLINE", "TRANSPOSE", "REVERSE", "DESCRIBE", "AD", "KMEANS", "MVEXPAND", "MVCOMBINE", "ADDTOTALS", "ADDCOLTOTALS",
			"EXPLAIN", "REPLACE":
			return true
		}
		return false
	}
	switch up {
	case "FROM", "TS", "ROW", "INLINESTATS", "INLINE", "KEEP", "DROP", "LIMIT", "DISSECT", "ENRICH", "LOOKUP", "MV_EXPAND",
		"CHANGE_POINT", "FORK", "FUSE", "RERANK", "COMPLETION", "SAMPLE", "SHOW":
		return true
	}
	return false
}

// isUnit tells units of time and parts of dates.
func isUnit(up string) bool {
	switch up {
	case "NANOSECOND", "NANOSECONDS", "NANO", "MICROSECOND", "MICROSECONDS", "MILLISECOND", "MILLISECONDS", "MS", "SECOND", "SECONDS",
		"SEC", "MINUTE", "MINUTES", "MIN", "HOUR", "HOURS", "DAY", "DAYS", "WEEK", "WEEKS", "MONTH", "MONTHS", "MON", "QUARTER",
		"QUARTERS", "YEAR", "YEARS", "DOY", "DOW", "DAYOFYEAR", "DAYOFWEEK", "DAY_OF_YEAR", "DAY_OF_WEEK", "DAY_OF_MONTH",
		"ISO_DAY_OF_WEEK", "ISO_WEEK_OF_YEAR", "WEEK_OF_YEAR", "HOUR_OF_DAY", "MINUTE_OF_DAY", "MINUTE_OF_HOUR", "MONTH_OF_YEAR",
		"SECOND_OF_MINUTE", "SECOND_OF_DAY", "WEEKDAY", "IDOW", "IW", "DW", "DY", "YY", "YYYY", "QQ", "MM", "DD", "WW", "WK", "HH",
		"MI", "N", "SS", "S", "MCS", "NS", "ALIGNED_WEEK_OF_YEAR", "EPOCH_DAY", "MILLENNIUM", "MILLENNIA", "CENTURY", "CENTURIES",
		"DECADE", "DECADES", "ERA", "PROLEPTIC_MONTH", "YEAR_OF_ERA", "DAY_HOUR", "HOUR_MINUTE", "MINUTE_SECOND", "YEAR_MONTH":
		return true
	}
	return false
}

// isSuffix tells what may follow the digits of a number: units and types.
func isSuffix(up string) bool {
	switch up {
	case "D", "H", "M", "W", "Q", "Y", "F", "L", "US", "CS", "DS", "HR", "HRS", "MINS", "SECS", "WEEKLY", "MILLIS":
		return true
	}
	return isUnit(up)
}

// isTransparent tells functions whose result can be compared as their argument
// can.
func isTransparent(fn string) bool {
	switch fn {
	case "LOWER", "UPPER", "LCASE", "UCASE", "TO_LOWER", "TO_UPPER", "TO_STRING", "TRIM", "LTRIM", "RTRIM", "MV_DEDUPE", "MV_FIRST",
		"MV_LAST", "STRING", "COALESCE", "IFNULL", "CAST":
		return true
	}
	return false
}

// cutsText tells functions whose result for a pseudonym says nothing of that for
// the original.
func cutsText(fn string) bool {
	switch fn {
	case "LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH", "OCTET_LENGTH", "BIT_LENGTH", "BYTE_LENGTH", "SUBSTRING", "SUBSTR", "LEFT", "RIGHT",
		"LOCATE", "POSITION", "STRPOS", "INDEXOF", "REVERSE", "ASCII", "INSERT", "REPEAT", "SPLIT", "HASH", "MD5", "SHA1", "SHA2", "SHA256",
		"STARTS_WITH", "ENDS_WITH", "STARTSWITH", "ENDSWITH", "STRINGCONTAINS", "CONTAINS", "REPLACE", "REGEXP_REPLACE", "SOUNDEX",
		"DIFFERENCE", "TO_BASE64", "FROM_BASE64", "URL_ENCODE", "URL_DECODE", "TOPSNIPPETS", "TOP_SNIPPETS", "CHUNK", "CATEGORIZE",
		"LEVENSHTEIN", "BETWEEN", "JSON_EXTRACT", "JSON_SET", "JSON_KEYS", "KNN", "SCORE", "TEXT_EMBEDDING", "TO_VERSION":
		return true
	}
	return false
}

// isClock tells functions that give the time at which they are called.
func isClock(fn string) bool {
	switch fn {
	case "NOW", "TODAY", "CURDATE", "CURTIME", "SYSDATE", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME",
		"CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "EARLIEST", "LATEST", "TRANGE":
		return true
	}
	return false
}

// takesDatePart tells functions of dates whose result a move by weeks changes.
func takesDatePart(fn string) bool {
	switch fn {
	case "YEAR", "MONTH", "QUARTER", "DAY", "WEEK", "DAYOFMONTH", "DAY_OF_MONTH", "DOM", "DAYOFYEAR", "DAY_OF_YEAR", "DOY", "MONTH_OF_YEAR",
		"MONTHNAME", "MONTH_NAME", "WEEKOFYEAR", "WEEK_OF_YEAR", "ISO_WEEK_OF_YEAR", "EXTRACT", "DATE_EXTRACT", "DATE_PART", "DATEPART",
		"DATE_FORMAT", "DATETIME_FORMAT", "FORMAT", "TO_CHAR", "TO_DAYS", "TO_LONG", "UNIX_TIMESTAMP", "YEARWEEK", "LAST_DAY":
		return true
	}
	return false
}

// takesDate tells functions whose literals are dates, their formats, their parts
// or time zones.
func takesDate(fn string) bool {
	switch fn {
	case "BUCKET", "TBUCKET", "SPAN", "HISTOGRAM", "EXTRACT", "FORMAT", "TO_CHAR", "STR_TO_DATE", "MAKETIME", "MAKEDATE", "ADDDATE",
		"SUBDATE", "STRFTIME", "CONVERT_TZ", "TRANGE", "FROM_UNIXTIME", "DATE", "TIME", "TIMESTAMP", "EARLIEST", "LATEST",
		"DATETIME", "DATEADD", "DATEDIFF", "DATEPART", "DATE_TRUNC", "DATETRUNC", "TIMEDIFF", "UNIX_TIMESTAMP", "TO_DATETIME", "TO_DT",
		"TO_DATE_NANOS", "TO_DATEPERIOD", "TO_TIMEDURATION", "DAYNAME", "DAY_NAME", "MONTHNAME", "LAST_DAY", "PERIOD_ADD", "PERIOD_DIFF":
		return true
	}
	return takesDatePart(fn) || len(fn) > 5 && (fn[:5] == "DATE_" || fn[:5] == "TIME_") || len(fn) > 9 && (fn[:9] == "DATETIME_" || fn[:9] == "TIMESTAMP")
}

func isVectorFunction(fn string) bool {
	switch fn {
	case "KNN", "V_COSINE", "V_DOT_PRODUCT", "V_HAMMING", "V_L1_NORM", "V_L2_NORM", "V_MAGNITUDE", "TO_DENSE_VECTOR":
		return true
	}
	return false
}

// searchKind is what the text is that a function searches for, 0 where it does
// not search.
func searchKind(fn string, lang language) litKind {
	switch fn {
	case "QSTR", "QUERY", "QUERY_STRING":
		return litLucene
	case "KQL":
		return litKQL
	case "SIMPLE_QUERY_STRING", "SIMPLE_QUERY":
		return litSimple
	case "MATCH", "MATCHLITE":
		if lang == langEQL {
			return litRegexp
		}
		return litText
	case "WILDCARD", "WILDCARD_QUERY", "WILDCARDQUERY":
		return litWildcard
	case "MATCH_PHRASE", "MATCHPHRASE", "MATCH_BOOL_PREFIX", "MATCH_PHRASE_PREFIX", "MULTI_MATCH", "MULTIMATCH", "MATCH_QUERY",
		"MATCHQUERY", "MATCHPHRASEQUERY", "MULTIMATCHQUERY", "TERM", "DECAY", "TEXT_EMBEDDING":
		return litText
	}
	return 0
}
