// What is known of the checked program before any pass looks at it: its files, kernels, access sites,
// allocations and launches. The front end fills these records in; both passes and the writers read them.
#pragma once

#include "report/location.h"

#include <array>
#include <optional>
#include <set>
#include <vector>

namespace kcheck {

/// Number of an access site: the index into Facts::sites. The front end numbers the memory instructions of
/// the device module once, before any transformation, and hangs the number on each as metadata `!kcheck.site
/// !{i32 N}`; inlining copies it, so that an access is the same site in the static pass, in the run and in
/// the report.
using SiteId = std::uint32_t;
inline constexpr SiteId kNoSite = ~SiteId{0};
inline constexpr const char* kSiteMetadata = "kcheck.site";
/// The read side of a copy (llvm.memcpy, asynchronous copies) whose written side has kSiteMetadata.
inline constexpr const char* kSourceSiteMetadata = "kcheck.site.source";

/// How to read the bytes of a value. Real: IEEE's format of that size. Other: an object's, a pointer's, or
/// not known.
enum class ValueType : std::uint8_t { Other, Signed, Unsigned, Real, BrainFloat };

/// One memory access as the programmer wrote it.
struct Site {
  SiteId id = kNoSite;
  AccessKind kind = AccessKind::Read;
  Location where;       ///< of the whole expression or statement that accesses (`c[0] += 1`)
  std::string expr;     ///< the accessed lvalue's text, `c[0]`; empty when the front end found none
  std::string array;    ///< the text of what is indexed or dereferenced, `c`
  std::string function; ///< the function that contains it, as the user would write it
  std::uint32_t bytes = 0;
  bool inSystemHeader = false;
  std::string updates;     ///< `*` of `x *= 2`, and so on for the other assignments that compute
  bool isBitField = false; ///< the lvalue is a bit-field: a write of it puts back the bits beside it, too
  ValueType type = ValueType::Other;
  std::uint32_t typeBytes = 0; ///< of a value of the type; 0 where that is Other
};

struct Parameter {
  std::string name;
  std::string type;
  bool isPointer = false;
  std::uint64_t elementBytes = 0; ///< of the pointee; 0 when not a pointer or unknown
};

struct Kernel {
  std::string symbol; ///< the function's name in the device module (mangled)
  std::string name;   ///< as the user would write it: `countPlain(int *)`
  Location where;
  std::vector<Parameter> parameters;
  bool inSystemHeader = false; ///< a library's: Thrust, CUB
};

/// A number that host code computes from values which it does not fix: `(n + 255) / 256` with `n` from the
/// command line. Arithmetic is that of integers that do not wrap; what is true is 1, what is not is 0.
struct Formula {
  enum class Op : std::uint8_t {
    Constant,
    Variable,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Less,
    Equal,
    Not,
    And,
    Or,
    Choice ///< of the second where the first holds, else of the third
  };
  Op op = Op::Constant;
  std::int64_t constant = 0;
  std::string variable; ///< its name; of an operation that may not fit the host's type: the first in it
  unsigned number = 0;  ///< tells variables of one name apart; counts through all files
  std::int64_t most = INT32_MAX; ///< that a variable of its type holds
  /// Host code looks at its remainder by something: perhaps it goes on with multiples only.
  bool mayDivide = false;
  std::vector<Formula> operands;
  friend bool operator==(const Formula&, const Formula&) = default;
};

/// A buffer that host code makes: cudaMalloc and its relatives, managed memory, or an array of a launch line.
struct Allocation {
  std::string name;                   ///< the variable that receives it: `d_out`
  Location where;                     ///< the allocating call
  std::optional<std::uint64_t> bytes; ///< where the size folds to a constant
  std::optional<Formula> formula;     ///< of the size, where it does not
};

/// What a launch of the run passed for a parameter.
struct PassedValue {
  struct Pointer {
    std::uint32_t at = 0; ///< offset in the bytes
    std::size_t allocation = 0;
    std::int64_t byteOffset = 0;
    friend bool operator==(const Pointer&, const Pointer&) = default;
  };
  std::vector<std::optional<std::uint8_t>> bytes; ///< nothing where launches differ, and where pointers are
  std::vector<Pointer> pointers;
  /// Of an integer, or of a pointer's offset, in which launches differ: least + step * i for 0 <= i < count.
  struct Range {
    std::int64_t least = 0, step = 1, count = 1;
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::optional<Range> range;

  /// The integer of so many bytes at an offset, sign-extended; none when not all of them are known.
  std::optional<std::int64_t> integer(std::size_t at, std::size_t count) const;
  friend bool operator==(const PassedValue&, const PassedValue&) = default;
};

/// An argument of a launch, as far as host code shows it, or as the run passed it.
struct Argument {
  std::string text;                       ///< source text: `d_out + 1`
  std::optional<std::int64_t> value;      ///< an integer scalar that folds
  std::optional<std::size_t> allocation;  ///< index into Facts::allocations
  std::optional<std::int64_t> byteOffset; ///< into that allocation
  std::optional<Formula> formula;         ///< of a scalar that does not fold
  Location freed; ///< of a pointer: where the allocation has surely been freed before; unknown: not shown
  std::optional<PassedValue> passed;
};

enum class LaunchOrigin : std::uint8_t { LaunchSite, Option, Annotation, Symbolic };
const char* toString(LaunchOrigin origin);

/// Two pointers of a launch that host code lets be one in some way to it.
struct OnePointer {
  std::size_t first = 0, second = 0; ///< numbers of arguments
  bool isSame = true;                ///< else the second leads somewhere into the same buffer
  friend bool operator==(const OnePointer&, const OnePointer&) = default;
};

/// A launch of a kernel; axes that depend on values which host code does not fix are unknown.
struct Launch {
  std::string kernel; ///< Kernel::symbol
  Location where;
  LaunchOrigin origin = LaunchOrigin::LaunchSite;
  Extent grid, block;
  std::optional<std::uint64_t> sharedBytes; ///< dynamic shared memory
  std::vector<Argument> arguments;
  std::array<std::optional<Formula>, 3> gridFormulas, blockFormulas; ///< of the axes that do not fold
  std::vector<Formula> conditions; ///< what holds whenever host code comes to the launch
  /// A condition on the way to it that is not followed, of what its shape or its arguments are made of.
  Location unfollowed;
  std::vector<OnePointer> mayBeOne;
  bool isJoined = false; ///< stands for several of a run: an unknown axis had several widths
};

/// Launches as the run made them.
struct SeenLaunches {
  std::vector<Launch> launches; ///< of different shapes or arguments
  std::vector<Allocation> allocations;
  std::set<std::string> incomplete; ///< symbols of kernels that were launched in further ways
};

/// A call of the CUDA runtime whose result nobody looks at.
struct IgnoredCall {
  Location where;
  std::string function;
};

struct Facts {
  std::vector<std::string> files;
  std::vector<Kernel> kernels;
  std::vector<Site> sites; ///< indexed by SiteId
  std::vector<Allocation> allocations;
  std::vector<Launch> launches;
  /// Names of device variables that host code names in more than reading them back: it may write them.
  std::set<std::string> hostVariables;
  std::vector<IgnoredCall> ignoredCalls;
  bool hasMain = false;

  const Kernel* kernel(const std::string& symbol) const;
};

} // namespace kcheck
