// Special functions that the C library lacks, in extended precision; results rounded to double or float are
// correct to about half a unit in the last place.
#pragma once

namespace kcheck::runtime::math {

using Extended = long double;

Extended sinPi(Extended x);
Extended cosPi(Extended x);
Extended erfInverse(Extended x);  ///< of erf
Extended erfcInverse(Extended x); ///< of erfc
Extended scaledErfc(Extended x);  ///< exp(x*x) * erfc(x)
Extended normalCdf(Extended x);
Extended normalCdfInverse(Extended p);
Extended besselI(int order, Extended x); ///< modified, first kind, order 0 or 1
/// Logarithm of |gamma(x)|, without the global that lgamma sets.
double logGamma(double x);

} // namespace kcheck::runtime::math
