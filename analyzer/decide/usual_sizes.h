// A witness with a negative size, with a column beyond the rows, or with rows shorter than the launch is
// wide, mostly shows a launch that nobody means. What counts is whether there is another one.
#pragma once

#include "analyzer/decide/checks.h"

#include <functional>
#include <initializer_list>

namespace kcheck::analyzer {

/// Asks again where numbers are not negative that are so in the witness, unless the kernel does this for
/// negative ones. `again` asks the question of `verdict` where a condition (width 1) holds as well. Where
/// there is no other witness, that they are not is an assumption.
void preferNotNegative(const Check& check, PropertyAnswer& answer,
                       std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                       const std::function<Verdict(Expr wanted)>& again);

/// Numbers that masks are made of (`i & (stride - 1)`) and that are no powers of two in the witness: another
/// one is taken where they are. Where none of these has one, that it is such is an assumption; where that is
/// open, the verdict leans on it. `with` asks the question for one number. Returns what has been asked for
/// (width 1).
Expr preferPowersOfTwo(const Check& check, PropertyAnswer& answer,
                       std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                       const std::function<Verdict(Expr number, std::int64_t value)>& with);

/// Whether numbers of the launch that may be negative are in these accesses.
bool mayBeNegative(std::initializer_list<const ModelAccess*> accesses);

/// Where the solver has left the question open: asks again where the numbers of the launch are not negative,
/// one of them or all, which is much less to think about.
void tryNotNegative(const Check& check, PropertyAnswer& answer,
                    std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                    const std::function<Verdict(Expr wanted)>& again);

/// Numbers that are places in rows (`d[i * n + k]`, with `k` for all threads), and that lie beyond the rows
/// in the witness: another one is taken where they do not. Where there is none, the verdict leans on that.
/// Returns what has been asked for (width 1).
Expr preferColumnsInRows(const Check& check, std::initializer_list<const ModelAccess*> accesses,
                         Verdict& verdict, const std::function<Verdict(Expr wanted)>& again);

/// Steps that the launch brings along and that are 0 in the witness (`i * stride`), so that all threads come
/// to one place: another one is taken where they are not. Where there is none, the verdict leans on that.
void preferSteps(const Check& check, std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                 const std::function<Verdict(Expr wanted)>& again);

/// Numbers that rows are long by (`y * pitch + x`), and that are less in the witness than a launch of known
/// size has threads along an axis: where there is no witness in which they are not, the verdict leans on
/// that. Where a guard keeps some threads away, the launch may be wider than the rows are long; then the
/// numbers count that the guards compare with (`x < width`).
void doubtShortRows(const Check& check, std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                    const std::function<Verdict(Expr wanted)>& again);

} // namespace kcheck::analyzer
