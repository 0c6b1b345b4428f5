#include "instrument/runtime/core/rows.h"

#include "instrument/runtime/core/access.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/metrics.h"
#include "instrument/runtime/core/row_cells.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace kcheck::runtime {

namespace {

constexpr std::uint64_t kAddressBits = (std::uint64_t{1} << 48) - 1;

using Word = std::uint64_t;

/// Room for a log: kLogBytes and as much again, aligned so that the first byte behind the log sets the bit.
Word* mapRows() {
  std::size_t bytes = 2 * abi::kLogBytes;
  void* room =
      mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) std::abort();
  auto address = reinterpret_cast<Address>(room);
  return reinterpret_cast<Word*>((address + bytes - 1) & ~(bytes - 1));
}

/// A write as replay() takes it back and does it again.
struct Content {
  Address address;
  std::uint32_t bytes;
  std::byte content[16];
};

/// Lanes that have been at one segment equally often: one row of a warp whose lanes went different ways.
struct RowGroup {
  std::uint32_t segment, mask;
  const Word* at[kWarpSize];
};

/// Brings the segments of diverged lanes together by how often each lane has been there.
class RowGroups {
public:
  void begin(std::size_t segments) {
    if (met.size() < segments) met.resize(segments);
    used = 0;
    inOrder = true;
    ++round;
  }
  void beginLane() {
    ++laneRound;
    last = 0;
  }
  void add(std::uint32_t lane, std::uint32_t segment, const Word* at) {
    Met& here = met[segment];
    if (here.round != round) {
      here.round = round;
      here.groups.clear();
    }
    if (here.lane != laneRound) {
      here.lane = laneRound;
      here.times = 0;
    }
    std::uint32_t time = here.times++;
    if (time == here.groups.size()) {
      here.groups.push_back(used);
      if (used == groups.size()) groups.emplace_back();
      groups[used].segment = segment;
      groups[used++].mask = 0;
    }
    std::uint32_t group = here.groups[time];
    inOrder &= group >= last;
    last = group + 1;
    groups[group].mask |= 1u << lane;
    groups[group].at[lane] = at;
  }
  /// Each lane's segments are in the order of the groups.
  bool keepsOrder() const { return inOrder; }
  const RowGroup* begin() const { return groups.data(); }
  const RowGroup* end() const { return groups.data() + used; }

private:
  struct Met {
    std::uint64_t round = 0, lane = 0;
    std::uint32_t times = 0;
    std::vector<std::uint32_t> groups;
  };
  std::vector<Met> met; ///< by segment
  std::vector<RowGroup> groups;
  std::uint64_t round = 0, laneRound = 0;
  std::uint32_t used = 0, last = 0;
  bool inOrder = true;
};

} // namespace

/// The log of the warp that runs.
struct RowLog {
  Word* rows = mapRows();
  Word* spill =
      mapRows(); ///< where a lane goes on whose rows are used up; what lies there is checked, not counted
  ThreadState* lanes = nullptr;
  std::uint32_t count = 0;
  std::uint8_t order[kWarpSize];
  std::uint32_t kept[kWarpSize];    ///< rows in `rows` of a lane that went on in `spill`; kNotFull
  std::uint32_t checked[kWarpSize]; ///< rows, in `rows` and then in `spill`
  std::uint64_t lost[kWarpSize];    ///< accesses that are not counted
  bool settled = false;             ///< some rows have been checked before the warp stopped
  ThreadState* partial = nullptr;   ///< is within a segment at `partialAt`, of which `partialDone` are logged
  const Word* partialAt = nullptr;
  std::uint32_t partialDone = 0;
  RowCells cells;
  RowGroups groups;
  std::vector<Content> contents;
  std::uint64_t launch = 0, tried = 0,
                failed = 0; ///< warps of this launch, and those that had to be replayed

  static constexpr std::uint32_t kNotFull = ~std::uint32_t{0};

  bool withinSegment() const { return partial && partialAt == partial->log; }
  bool spilled(std::uint32_t lane) const { return kept[lane] != kNotFull; }
  std::uint32_t rowsFrom(const Word* start, std::uint32_t lane) const {
    return static_cast<std::uint32_t>((lanes[lane].log - start) / abi::kLogLanes);
  }
  std::uint32_t used(std::uint32_t lane) const { return spilled(lane) ? kept[lane] : rowsFrom(rows, lane); }
};

namespace {

const abi::ModuleEntry& module() { return *context().modules.front(); }

const abi::LogSegment& segmentAt(Word word) { return module().segments[word >> 48]; }

/// The accesses of one lane from row `from` to `to`, in their order: visit(access, address, row of the
/// segment).
template <class Visit>
void eachAccess(const Word* column, std::uint32_t from, std::uint32_t to, Visit visit) {
  for (std::uint32_t row = from; row < to;) {
    const Word* at = column + std::size_t{row} * abi::kLogLanes;
    const abi::LogSegment& segment = segmentAt(*at);
    for (std::uint32_t i = 0; i < segment.count; ++i) {
      const abi::LoggedAccess& access = module().accesses[segment.first + i];
      visit(access,
            (at[std::size_t{access.row} * abi::kLogLanes] & kAddressBits) +
                static_cast<Address>(std::int64_t{access.offset}),
            at);
    }
    row += segment.rows;
  }
}

std::uint64_t accessesIn(const Word* column, std::uint32_t rows) {
  std::uint64_t count = 0;
  eachAccess(column, 0, rows, [&](const abi::LoggedAccess&, Address, const Word*) { ++count; });
  return count;
}

/// All accesses that have not been checked, in the order in which they happened: visit(lane, access, address,
/// at).
template <class Visit> void eachUnchecked(const RowLog& log, Visit visit) {
  for (std::uint32_t i = 0; i < log.count; ++i) {
    std::uint32_t lane = log.order[i];
    auto here = [&](const abi::LoggedAccess& access, Address address, const Word* at) {
      visit(lane, access, address, at);
    };
    const Word* column = log.rows + lane;
    if (log.spilled(lane)) {
      if (log.checked[lane] < log.kept[lane]) eachAccess(column, log.checked[lane], log.kept[lane], here);
      std::uint32_t done = log.checked[lane] > log.kept[lane] ? log.checked[lane] - log.kept[lane] : 0;
      eachAccess(log.spill + lane, done, log.rowsFrom(log.spill, lane), here);
    } else {
      eachAccess(column, log.checked[lane], log.rowsFrom(log.rows, lane), here);
    }
    if (log.partial != &log.lanes[lane] || !log.withinSegment() || !log.partialDone) continue;
    const abi::LogSegment& segment = segmentAt(*log.partialAt);
    for (std::uint32_t n = 0; n < log.partialDone; ++n) {
      const abi::LoggedAccess& access = module().accesses[segment.first + n];
      Word word = log.partialAt[std::size_t{access.row} * abi::kLogLanes];
      here(access, (word & kAddressBits) + static_cast<Address>(std::int64_t{access.offset}), log.partialAt);
    }
  }
}

void markChecked(RowLog& log) {
  for (std::uint32_t lane = 0; lane < log.count; ++lane)
    log.checked[lane] = log.spilled(lane) ? log.kept[lane] + log.rowsFrom(log.spill, lane) : log.used(lane);
  log.partial = nullptr;
}

/// Everything unchecked, one by one, with memory as it was at each of them.
void replay(RowLog& log) {
  std::vector<Content>& contents = log.contents;
  contents.clear();
  eachUnchecked(log, [&](std::uint32_t, const abi::LoggedAccess& access, Address address, const Word* at) {
    if (access.kind == abi::SiteKind::Read) return;
    Content& content = contents.emplace_back(Content{address, access.bytes, {}});
    if (!inArena(address)) content.bytes = 0;
    for (std::uint32_t part = 0; part < (access.bytes == 16 ? 2u : 1u); ++part)
      std::memcpy(content.content + std::size_t{8} * part,
                  at + std::size_t{access.content + part} * abi::kLogLanes, 8);
  });
  auto swap = [](Content& content) {
    std::byte now[16];
    void* memory = reinterpret_cast<void*>(content.address);
    std::memcpy(now, memory, content.bytes);
    std::memcpy(memory, content.content, content.bytes);
    std::memcpy(content.content, now, content.bytes);
  };
  for (std::size_t i = contents.size(); i-- > 0;) swap(contents[i]);
  std::size_t next = 0;
  eachUnchecked(log, [&](std::uint32_t lane, const abi::LoggedAccess& access, Address address, const Word*) {
    ThreadState& thread = log.lanes[lane];
    bool known = inArena(address); // what is not has been reported
    AtomicOrder order{access.order};
    if (access.kind == abi::SiteKind::Read) {
      if (known) runtime::access<AccessKind::Read>(thread, address, access.bytes, access.site);
      return;
    }
    if (!known) {
    } else if (access.kind == abi::SiteKind::Write) {
      runtime::access<AccessKind::Write>(thread, address, access.bytes, access.site);
    } else {
      AccessKind kind = !order.stores()  ? AccessKind::AtomicLoad
                        : !order.loads() ? AccessKind::AtomicStore
                                         : AccessKind::Atomic;
      checkAccess(thread, address, access.bytes, access.site, kind, order);
    }
    swap(contents[next++]);
  });
}

KCHECK_VECTORS void addressesOf(const Word* row, Address offset, Address* addresses) {
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane)
    addresses[lane] = (row[lane] & kAddressBits) + offset;
}

KCHECK_VECTORS bool sameSegment(const Word* words, std::uint32_t active) {
  Word first = words[std::countr_zero(active)], different = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane)
    different |= active >> lane & 1 ? words[lane] ^ first : 0;
  return different >> 48 == 0;
}

/// Goes over the rows of a warp that has stopped: their checks when `checking`, and what they cost.
class Rows {
public:
  Rows(LaunchState& launch, RowLog& log, bool checking)
      : launch(launch), log(log), segments(module().segments), accesses(module().accesses),
        window(log.lanes->owner(), log.lanes), checking(checking) {}

  /// False when the checks need a replay.
  bool run() {
    measure();
    std::uint32_t row = 0;
    while (row < longest) {
      std::uint32_t active = row < shortest ? all : activeAt(row);
      const Word* words = log.rows + std::size_t{row} * abi::kLogLanes;
      if (!sameSegment(words, active)) break;
      const abi::LogSegment& segment = segments[words[std::countr_zero(active)] >> 48];
      visitSegment(segment, words, active);
      row += segment.rows;
    }
    if (row < longest) diverge(row);
    if (checking && !failed) log.cells.commit();
    if (failed) log.cells.undo();
    return !failed;
  }

private:
  LaunchState& launch;
  RowLog& log;
  const abi::LogSegment* segments;
  const abi::LoggedAccess* accesses;
  RowWindow window;
  bool checking, failed = false;
  std::uint32_t all = 0, longest = 0, shortest = ~std::uint32_t{0};
  double weight = 1;

  void measure() {
    std::uint64_t lost = 0, kept = 0;
    for (std::uint32_t lane = 0; lane < log.count; ++lane) {
      std::uint32_t used = log.used(lane);
      if (!used) continue;
      all |= 1u << lane;
      longest = std::max(longest, used);
      shortest = std::min(shortest, used);
      lost += log.lost[lane];
    }
    if (!lost) return;
    for (std::uint32_t lane = 0; lane < log.count; ++lane)
      kept += accessesIn(log.rows + lane, log.used(lane));
    weight = 1 + double(lost) / double(kept);
  }

  std::uint32_t activeAt(std::uint32_t row) const {
    std::uint32_t active = 0;
    for (std::uint32_t lane = 0; lane < log.count; ++lane)
      active |= static_cast<std::uint32_t>(log.used(lane) > row) << lane;
    return active;
  }

  /// One segment of lanes that are together. Accesses that share a logged address share its shape.
  void visitSegment(const abi::LogSegment& segment, const Word* words, std::uint32_t active) {
    Address addresses[kWarpSize];
    // Short loops take turns between a few rows.
    constexpr std::uint32_t kept = 4;
    RowClass shapes[kept];
    const abi::LoggedAccess* shapeOf[kept]{};
    for (std::uint32_t i = 0; i < segment.count; ++i) {
      const abi::LoggedAccess& access = accesses[segment.first + i];
      const Word* row = words + std::size_t{access.row} * abi::kLogLanes;
      auto offset = static_cast<Address>(std::int64_t{access.offset});
      addressesOf(row, offset, addresses);
      const abi::LoggedAccess*& of = shapeOf[access.row % kept];
      RowClass& shape = shapes[access.row % kept];
      if (!of || of->row != access.row || of->bytes != access.bytes)
        classify(shape, addresses, active, access.bytes);
      of = &access;
      visit(access, addresses, active, shape, checking && !failed);
    }
  }

  static void gather(const RowGroup& group, const abi::LoggedAccess& access, Address* addresses,
                     RowClass& shape) {
    for (std::uint32_t left = group.mask; left; left &= left - 1) {
      auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      addresses[lane] = (group.at[lane][std::size_t{access.row} * abi::kLogLanes] & kAddressBits) +
                        static_cast<Address>(std::int64_t{access.offset});
    }
    classify(shape, addresses, group.mask, access.bytes);
  }

  void visit(const RowGroup& group, const abi::LoggedAccess& access, bool checks) {
    Address addresses[kWarpSize];
    RowClass shape;
    gather(group, access, addresses, shape);
    visit(access, addresses, group.mask, shape, checks);
  }

  void visit(const abi::LoggedAccess& access, const Address* addresses, std::uint32_t active,
             const RowClass& shape, bool checks) {
    if (checks) check(access, addresses, active, shape);
    if (!launch.accesses) return;
    bool shared = inShared(addresses[std::countr_zero(active)]);
    Traffic cost = costOfRow(addresses, active, access.bytes, shared, shape);
    // Often no two lanes meet.
    if (access.kind == abi::SiteKind::Atomic && shape.shape == RowShape::Other && shape.first == active)
      cost.turns = 1;
    addTraffic(launch, access.site, addresses, active, cost, weight);
  }

  void check(const abi::LoggedAccess& access, const Address* addresses, std::uint32_t active,
             const RowClass& shape) {
    if (access.kind == abi::SiteKind::Atomic) rememberScope(access);
    failed = !log.cells.check(window, access, addresses, active, shape);
  }

  void rememberScope(const abi::LoggedAccess& access) {
    std::vector<std::uint8_t>& scopes = launch.atomicScope;
    std::uint16_t site = narrowSite(access.site);
    if (scopes.size() <= site) scopes.resize(site + 1u);
    scopes[site] = static_cast<std::uint8_t>(AtomicOrder{access.order}.scope());
  }

  /// From here on lanes go different ways: counted by segment and how often a lane has been there. Checked
  /// the same way where that keeps the order of each lane's accesses.
  void diverge(std::uint32_t row) {
    // The longest first: what its loop does after the others have left then comes before what follows the
    // loop.
    std::uint64_t lanes[kWarpSize];
    for (std::uint32_t lane = 0; lane < log.count; ++lane)
      lanes[lane] = (~std::uint64_t{log.used(lane)} << 8) | lane;
    std::sort(lanes, lanes + log.count);
    RowGroups& groups = log.groups;
    groups.begin(module().segmentCount);
    for (std::uint32_t i = 0; i < log.count; ++i) {
      groups.beginLane();
      auto lane = static_cast<std::uint32_t>(lanes[i] & 0xFF);
      for (std::uint32_t at = row, used = log.used(lane); at < used;) {
        const Word* word = log.rows + std::size_t{at} * abi::kLogLanes + lane;
        groups.add(lane, static_cast<std::uint32_t>(*word >> 48), word);
        at += segments[*word >> 48].rows;
      }
    }
    bool outOfOrder = checking && !failed && !groups.keepsOrder();
    if (outOfOrder) checkInOrder(row);
    if (outOfOrder && !launch.accesses) return;
    for (const RowGroup& group : groups) {
      const abi::LogSegment& segment = segments[group.segment];
      for (std::uint32_t i = 0; i < segment.count; ++i)
        visit(group, accesses[segment.first + i], checking && !failed && !outOfOrder);
    }
  }

  /// Where the groups do not keep the order: lanes that are at the same segment take it together, the first
  /// segment of the code first, so that those who went another way can catch up.
  void checkInOrder(std::uint32_t row) {
    constexpr std::uint32_t kDone = ~std::uint32_t{0};
    std::uint32_t at[kWarpSize], segment[kWarpSize], used[kWarpSize];
    auto look = [&](std::uint32_t lane) {
      const Word* word = log.rows + std::size_t{at[lane]} * abi::kLogLanes + lane;
      segment[lane] = at[lane] < used[lane] ? static_cast<std::uint32_t>(*word >> 48) : kDone;
    };
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      at[lane] = row;
      used[lane] = lane < log.count ? log.used(lane) : 0;
      look(lane);
    }
    RowGroup group;
    while (!failed) {
      group.segment = *std::min_element(segment, segment + kWarpSize);
      if (group.segment == kDone) return;
      group.mask = 0;
      for (std::uint32_t lane = 0; lane < kWarpSize; ++lane)
        group.mask |= static_cast<std::uint32_t>(segment[lane] == group.segment) << lane;
      const abi::LogSegment& taken = segments[group.segment];
      for (std::uint32_t left = group.mask; left; left &= left - 1) {
        auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        group.at[lane] = log.rows + std::size_t{at[lane]} * abi::kLogLanes + lane;
        at[lane] += taken.rows;
        look(lane);
      }
      for (std::uint32_t i = 0; i < taken.count && !failed; ++i) {
        Address addresses[kWarpSize];
        RowClass shape;
        const abi::LoggedAccess& access = accesses[taken.first + i];
        gather(group, access, addresses, shape);
        check(access, addresses, group.mask, shape);
      }
    }
  }
};

} // namespace

void beginRows(LaunchState& launch, ThreadState* lanes, std::uint32_t count, const std::uint8_t* order) {
  if (!launch.rows) launch.rows = new RowLog;
  RowLog& log = *launch.rows;
  if (log.launch != launch.number) {
    log.launch = launch.number;
    log.tried = log.failed = 0;
  }
  log.lanes = lanes;
  log.count = count;
  log.settled = false;
  log.partial = nullptr;
  std::copy_n(order, count, log.order);
  for (std::uint32_t lane = 0; lane < count; ++lane) {
    lanes[lane].log = log.rows + lane;
    log.kept[lane] = RowLog::kNotFull;
    log.checked[lane] = 0;
    log.lost[lane] = 0;
  }
}

void settleRows(LaunchState& launch) {
  RowLog* log = launch.rows;
  if (!launch.logged || !log || !log->lanes) return;
  replay(*log);
  log->settled = true;
  markChecked(*log);
}

void finishRows(LaunchState& launch) {
  RowLog* log = launch.rows;
  if (!launch.logged || !log || !log->lanes) return;
  for (std::uint32_t lane = 0; lane < log->count; ++lane)
    if (log->spilled(lane)) log->lost[lane] += accessesIn(log->spill + lane, log->rowsFrom(log->spill, lane));
  bool untouched = !log->settled && !log->withinSegment();
  bool hopeless = log->failed > 16 && 2 * log->failed > log->tried;
  bool checking = untouched && !hopeless;
  bool clean = Rows(launch, *log, checking).run() && checking;
  if (untouched) {
    ++log->tried;
    log->failed += checking && !clean;
  }
  if (!clean) replay(*log);
  log->lanes = nullptr;
}

} // namespace kcheck::runtime

using namespace kcheck;
using namespace kcheck::runtime;

extern "C" {

std::uint64_t kcForeign(abi::ThreadContext* context, void* pointer, std::uint64_t bytes, std::uint32_t site,
                        std::uint64_t* log, std::uint32_t done) {
  auto& thread = *static_cast<ThreadState*>(context);
  auto address = reinterpret_cast<Address>(pointer);
  LaunchState& launch = *thread.owner().launch;
  bool inside = inArena(address) && inArena(address + bytes - 1);
  if (inside || !launch.rows) return address;
  launch.rows->partial = &thread;
  launch.rows->partialAt = log;
  launch.rows->partialDone = done;
  bool isWrite = kcheck::runtime::context().site(site) &&
                 kcheck::runtime::context().site(site)->kind == abi::SiteKind::Write;
  bool isAtomic = kcheck::runtime::context().site(site) &&
                  kcheck::runtime::context().site(site)->kind == abi::SiteKind::Atomic;
  checkAccess(thread, address, bytes, site,
              isAtomic  ? runtime::AccessKind::Atomic
              : isWrite ? runtime::AccessKind::Write
                        : runtime::AccessKind::Read,
              {});
  return address >> 48 || inArena(address) ? 0 : address;
}

std::uint64_t* kcLogFull(abi::ThreadContext* context) {
  auto& thread = *static_cast<ThreadState*>(context);
  LaunchState& launch = *thread.owner().launch;
  RowLog& log = *launch.rows;
  settleRows(launch);
  std::uint32_t lane = thread.lane;
  if (log.spilled(lane))
    log.lost[lane] += accessesIn(log.spill + lane, log.rowsFrom(log.spill, lane));
  else
    log.kept[lane] = log.used(lane);
  log.checked[lane] = log.kept[lane];
  return thread.log = log.spill + lane;
}

} // extern "C"
