// What runs in a process that answers queries.
#pragma once

namespace kcheck::analyzer::smt {

/// Reads queries from the connection, each with its length in front, and answers by lines: "symbol" and
/// "apply" with values, "time" with the processor time of the query so far, then "result" with what came out
/// of integers. A length of 0 asks for bit-vectors too. "late" when a query's time is over. Ends the process
/// then, and when the other end does.
void workOn(int connection);

} // namespace kcheck::analyzer::smt
