// Package schedule says which of some windows of time are open, which number
// counts, and when that changes next. It is pure: the time is an argument.
//
// A window opens when the clock on the wall shows what a cron expression says, and
// stays open for a length of elapsed time. Windows of one schedule that overlap or
// touch are one. Where clocks are put forward or back:
//
//   - A time that the clock jumps over opens the window at the moment of the jump:
//     02:30 becomes 03:00 where 02:00 to 03:00 does not exist. No window is lost.
//   - A time that the clock shows twice opens the window both times: from the first
//     02:30 for a length of 1h to the second one, and from that for another hour.
//     A window that opens every hour has no hole there.
//   - The length is elapsed time. A window of 10h from 22:00 ends at 09:00 in the
//     night in which an hour is left out, and at 07:00 in the one that has an hour
//     more.
//
// In doubt a window is open: too many Pods for an hour are the smaller evil.
package schedule
