// The site table: where each access stands, also for accesses that the front end did not number (PTX,
// collectives) and for header code that was inlined into several places.
#include "instrument/pass/device_code.h"
#include "instrument/pass/shipped_headers.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugLoc.h>

namespace kcheck::instrument {

namespace {

abi::SiteKind kindOf(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read: return abi::SiteKind::Read;
  case AccessKind::Write: return abi::SiteKind::Write;
  case AccessKind::Atomic: return abi::SiteKind::Atomic;
  }
  return abi::SiteKind::Other;
}

std::string fileOf(const llvm::DILocation& where) { return where.getFilename().str(); }

bool isSystemHeader(llvm::StringRef file) {
  return file.starts_with("/usr/") || file.contains("/lib/clang/") || file.contains("/cuda/include/") ||
         file.contains("/cccl/") || file.contains("__clang_cuda") || isShippedHeader(file);
}

/// The innermost place that is not in a system header; the outermost place when all are.
const llvm::DILocation* userPlace(const llvm::DILocation* where) {
  while (where && isSystemHeader(fileOf(*where)) && where->getInlinedAt()) where = where->getInlinedAt();
  return where;
}

} // namespace

SiteTable::SiteTable(const Facts& facts) {
  for (const Site& site : facts.sites) {
    SiteRow row{.kind = kindOf(site.kind), .bytes = site.bytes, .file = site.where.file};
    row.line = site.where.line;
    row.column = site.where.column;
    row.origin = std::uint32_t(rows.size());
    rows.push_back(row);
  }
}

std::uint32_t SiteTable::add(abi::SiteKind kind, std::uint32_t bytes, const llvm::DebugLoc& where) {
  SiteRow row{.kind = kind, .bytes = bytes, .file = {}};
  if (const llvm::DILocation* place = userPlace(where.get())) {
    row.file = fileOf(*place);
    row.line = place->getLine();
    row.column = place->getColumn();
  }
  row.origin = std::uint32_t(rows.size());
  rows.push_back(row);
  return row.origin;
}

std::uint32_t SiteTable::at(std::uint32_t site, const llvm::DebugLoc& where) {
  const llvm::DILocation* place = where.get();
  if (!place || !place->getInlinedAt() || !isSystemHeader(rows[site].file)) return site;
  place = userPlace(place);
  if (isSystemHeader(fileOf(*place))) return site;
  auto key = std::tuple(rows[site].origin, fileOf(*place), place->getLine(), place->getColumn());
  auto [slot, isNew] = copies.try_emplace(key, std::uint32_t(rows.size()));
  if (isNew) {
    SiteRow row = rows[site];
    std::tie(row.origin, row.file, row.line, row.column) = key;
    rows.push_back(row);
  }
  return slot->second;
}

std::uint32_t SiteTable::unusedCopyOf(std::uint32_t site) {
  auto [slot, isNew] = unused.try_emplace(site, std::uint32_t(rows.size()));
  if (isNew) {
    SiteRow row = rows[site];
    row.flags |= abi::SiteKeepsBits;
    rows.push_back(row);
  }
  return slot->second;
}

bool DeviceCode::isUserFile(llvm::StringRef file) const {
  return !isSystemHeader(file) && !systemFiles.contains(file.str());
}

bool DeviceCode::isUserPlace(const llvm::DebugLoc& where) const {
  return where && where.getLine() && isUserFile(llvm::cast<llvm::DIScope>(where.getScope())->getFilename());
}

KernelCode* DeviceCode::kernelOf(const llvm::Function& function) {
  for (KernelCode& kernel : kernels)
    if (kernel.body == &function || kernel.entry == &function) return &kernel;
  return nullptr;
}

} // namespace kcheck::instrument
