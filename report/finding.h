// A finding: one thing that is wrong, or could be better, with everything that a reader or a script needs to
// see why. Analyses fill it in; writers word it. The rule's id says what it is (report/rules.h).
#pragma once

#include "report/program.h"

namespace kcheck {

enum class Severity : std::uint8_t { Note, Warning, Error };

/// How sure a finding is. `Proved`: the static pass has an exact witness. `Possible`: its witness leans on an
/// approximation, which Finding::reason names. `Observed`: seen in the run. `Confirmed`: both.
enum class Verdict : std::uint8_t { Proved, Possible, Observed, Confirmed };

/// How far apart the two threads of a race are.
enum class RaceScope : std::uint8_t { None, IntraWarp, InterWarp, InterBlock, Host };
enum class RaceKind : std::uint8_t { None, ReadWrite, WriteWrite, AtomicPlain };

const char* toString(Severity severity);
const char* toString(Verdict verdict);
const char* toString(RaceScope scope);
const char* toString(RaceKind kind);

/// Access::by of what gives the memory back, which counts as a write.
inline constexpr const char *kByFree = "cudaFreeAsync", *kByFreeAtOnce = "cudaFree";

/// One thread's access in a finding.
struct Access {
  AccessKind kind = AccessKind::Read;
  SiteId site = kNoSite;
  Location where;
  std::string expr;
  bool loadsOnly = false;            ///< of an atomic: writes nothing
  std::string updates;               ///< as in Site
  std::optional<Dim3> block, thread; ///< absent for the host, or when the static pass needs none
  std::string by; ///< who, when no thread is known: "the host", "a copy or fill", "a kernel", "cublasSgemm"
  std::string value; ///< `0`, or `0 -> 1` for a write; empty when not known
};

/// The memory that a finding is about.
struct MemoryFact {
  MemorySpace space = MemorySpace::Generic;
  std::string name;                  ///< the array as the user calls it
  std::optional<std::uint64_t> size; ///< in bytes
  std::optional<std::int64_t>
      offset;              ///< of the access, in bytes, from the array's start; negative is before it
  std::uint64_t bytes = 0; ///< accessed
  Location allocatedAt;
};

/// How a note begins, or goes on behind "; ", that gives a witness's values.
inline constexpr const char *kFirstThreadHas = "the first thread has ",
                            *kSecondThreadHas = "the second thread has ";

/// A note below a finding: a further place with a sentence.
struct RelatedNote {
  Location where;
  std::string message;
};

struct Finding {
  std::string rule; ///< id in report/rules.h
  Severity severity = Severity::Error;
  Verdict verdict = Verdict::Observed;
  std::string kernel;              ///< Kernel::name; empty for host code
  std::vector<std::string> alsoIn; ///< further kernels that have the same finding (instantiations, helpers)
  std::string message;             ///< one plain sentence, no full stop
  Location where;                  ///< the primary location; of a race the write
  RaceScope scope = RaceScope::None;
  RaceKind kind = RaceKind::None;
  bool sameValue = false;      ///< both threads write the same value
  bool storesShuffled = false; ///< both write what a shuffle gave them: whether it is the same, a run tells
  bool throughReadOnlyCache = false; ///< the read may miss the write whatever orders the two
  std::vector<Access> accesses;
  std::optional<MemoryFact> memory;
  std::uint64_t count = 0;   ///< times seen in the run; 0 when not seen
  std::string holdsFor;      ///< static: the launches for which it is proved
  std::string reason;        ///< of `Possible`: the approximation that the witness leans on
  bool leansOnHost = false;  ///< that is what the host or a flag sets: a run of the program has the right one
  bool leansOnInput = false; ///< that is what arrays and numbers hold at the launch, and nothing else
  bool goesUnfollowed =
      false;                ///< it is where a loop, or something else that is not followed, leads the access
  bool largerInput = false; ///< beside `leansOnHost`: all it takes is more to do than the host has shown
  std::vector<RelatedNote> notes;
  std::string hint; ///< what would repair it
  bool suppressed = false;
};

} // namespace kcheck
