// A graph that runs: its nodes begin as soon as those before them have ended, so that kernels of branches may
// wait for each other, as they do on a GPU. What waits for a kernel that has been set aside (core/company.h)
// goes on later (later.h).
#pragma once

#include "instrument/runtime/api/graph.h"

#include <map>

namespace kcheck::runtime::api {

class GraphRun {
public:
  GraphRun(std::shared_ptr<const cuda::Graph> graph, std::uint64_t stream);
  /// Begins what can begin. Whether anything has begun or ended.
  bool advance();
  bool isOver() const { return over; }
  bool isOf(const cuda::Graph& other) const { return graph.get() == &other; }
  const cuda::Graph& whole() const { return *graph; }
  std::uint64_t stream() const { return target; }

private:
  enum class State : std::uint8_t { Waits, Lives, Over };
  bool mayBegin(const cuda::GraphNode& node) const;
  void enter();
  void begin(const cuda::GraphNode& node);
  void end(const cuda::GraphNode& node);
  void finish();
  std::uint64_t streamOf(const cuda::GraphNode& node) const { return isChain ? target : node.stream; }

  std::shared_ptr<const cuda::Graph> graph;
  std::uint64_t target;
  std::vector<const cuda::GraphNode*> order; ///< dependencies first
  std::map<const cuda::GraphNode*, State> states;
  bool isChain, entered = false, over = false;
};

/// To its end, as part of a branch of another graph: its kernels wait for nobody.
void performChild(const cuda::Graph& graph, std::uint64_t stream);

} // namespace kcheck::runtime::api
