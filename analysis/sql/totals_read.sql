SELECT template, calls, errors, time_us FROM totals ORDER BY template
