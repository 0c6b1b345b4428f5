// The state that the stages of the pass share: the module in work, its kernels, and the table of sites. A
// stage is a free function over this record; instrument.cpp shows their order.
#pragma once

#include "instrument/instrument.h"
#include "instrument/pass/abi_calls.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace llvm {
class AllocaInst;
class CallInst;
class DebugLoc;
class Function;
class GlobalVariable;
class Module;
} // namespace llvm

namespace kcheck::instrument {

/// How a kernel's threads give control back.
enum class Suspension { Never, Coroutine, Fibre };

struct PlacedShared {
  std::string name;
  std::uint32_t offset = 0, bytes = 0, align = 1;
};

struct KernelCode {
  llvm::Function* body = nullptr;
  llvm::Function* entry = nullptr; ///< void* (ThreadContext*, const void* arguments)
  std::string symbol;              ///< as host code names it
  std::uint32_t maxThreads = 0;
  Suspension suspension = Suspension::Never;
  std::uint32_t traits = 0; ///< abi::KernelTrait bits
  std::vector<abi::ParameterInfo> parameters;
  std::uint32_t argumentBytes = 0;
  std::vector<std::uint32_t> written; ///< abi::KernelEntry::written
  llvm::Function* distances = nullptr;
  std::uint32_t distanceCount = 0;   ///< that it writes
  std::vector<std::uint32_t> arrays; ///< abi::KernelEntry::arrays
  std::vector<PlacedShared> shared;
  std::uint32_t sharedBytes = 0, declaredSharedBytes = 0;
};

/// A row of the module's site table. Rows below Facts::sites.size() are the front end's.
struct SiteRow {
  abi::SiteKind kind = abi::SiteKind::Other;
  std::uint8_t space = 0;
  std::uint16_t flags = 0;
  std::uint32_t bytes = 0;
  std::string file;
  unsigned line = 0, column = 0;
  std::uint32_t usedWords = 0; ///< abi::SiteInfo
  std::uint32_t origin = 0;    ///< the row that this one is a copy of at an inlined place; itself otherwise
};

class SiteTable {
public:
  explicit SiteTable(const Facts& facts);
  /// A new row for an instruction that the front end did not number.
  std::uint32_t add(abi::SiteKind kind, std::uint32_t bytes, const llvm::DebugLoc& where);
  /// The row for an instruction of row `site` at `where`: when the row lies in a system header and `where`
  /// was inlined into user code, a copy that names the user's line, so that two calls of atomicAdd are two
  /// sites.
  std::uint32_t at(std::uint32_t site, const llvm::DebugLoc& where);
  /// The row for a read of row `site` with which nothing is done: what is read may be unwritten.
  std::uint32_t unusedCopyOf(std::uint32_t site);
  SiteRow& operator[](std::uint32_t site) { return rows[site]; }
  const SiteRow& operator[](std::uint32_t site) const { return rows[site]; }
  const std::vector<SiteRow>& all() const { return rows; }

private:
  std::vector<SiteRow> rows;
  std::map<std::tuple<std::uint32_t, std::string, unsigned, unsigned>, std::uint32_t> copies;
  std::map<std::uint32_t, std::uint32_t> unused;
};

/// A variable of device memory that the runtime places.
struct GlobalCode {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t align = 1;
  MemorySpace space = MemorySpace::Global;
  bool isManaged = false, zeroInitialised = false;
  llvm::GlobalVariable* slot = nullptr;
};

struct DeviceCode {
  llvm::Module& module;
  const Facts& facts;
  const Options& options;
  SiteTable sites;
  std::vector<KernelCode> kernels;
  std::vector<GlobalCode> globals;
  std::vector<abi::LogSegment> segments;
  std::vector<abi::LoggedAccess> logged;
  std::map<const llvm::GlobalVariable*, std::uint32_t> sharedOffsets; ///< in the block's shared window
  llvm::Function* initialise = nullptr;                               ///< writes initial values of globals
  std::set<std::string> systemFiles;    ///< headers that are not the user's own, by clang's notion
  std::vector<std::string> unsupported; ///< "FILE:LINE: FEATURE", in program order
  std::vector<std::string> errors;      ///< the module cannot be translated at all

  /// Parameters of kernels that are `__restrict__`: symbol and number.
  std::set<std::pair<std::string, unsigned>> restricted;

  DeviceCode(llvm::Module& module, const Facts& facts, const Options& options)
      : module(module), facts(facts), options(options), sites(facts) {
    for (const Site& site : facts.sites)
      if (site.inSystemHeader) systemFiles.insert(site.where.file);
  }

  KernelCode* kernelOf(const llvm::Function& function);

  /// Headers of the toolkit read on purpose what may have no value: block loads, shuffles, merges. Where code
  /// is the user's, clang knows (Site::inSystemHeader).
  bool isUserFile(llvm::StringRef file) const;
  bool isUserPlace(const llvm::DebugLoc& where) const;
};

} // namespace kcheck::instrument
