// Looking at a stored search tree and steering it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "app/cli/command.h"
#include "app/cli/continue_run.h"
#include "app/cli/decision_text.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/tree/report.h"
#include "core/base/error.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"
#include "core/store/workspace.h"
#include "core/strategy/file/named_strategy.h"
#include "core/strategy/file/rebind.h"

namespace strato::cli {
namespace {

constexpr std::size_t kStepsShown = 10;

struct TreeOptions {
  std::string workspace;
  RunRow run = 0;
  std::string vertex = "root", group, decision;
  std::vector<std::string> groups;
  bool all = false;
  float factor = 1;
  int depth = 2, top = 5;
  std::size_t from = 1;
  std::optional<std::size_t> to;
  bool scores = false;
  RunRow other = 0;
  ContinueOptions search;
};

// A run that is only looked at.
struct OpenTree {
  Workspace workspace;
  StoredRun run;
  std::shared_ptr<const SearchTree> tree;
  StoredProblem stored;

  explicit OpenTree(const TreeOptions& options)
      : workspace(open_existing(options.workspace, false)),
        run(find_run(workspace, options.run)),
        tree(stored_tree(workspace, run)),
        stored(stored_problem(workspace, run, tree.get())) {
    check_same_problem();
  }
  const Problem& problem() const { return stored.problem; }

 private:
  // Reports name groups and devices as the problem does.
  void check_same_problem() const {
    if (tree->problem == problem().digest()) return;
    throw InputError(
        workspace.file().string(), fmt::format("run {}", run.id),
        "its search tree is about other op groups or costs, or was made by another version",
        fmt::format("begin a new one: runs resume {} --afresh", run.id));
  }
};

// A run that nobody else changes meanwhile.
struct LockedTree {
  Workspace workspace;
  RunLock lock;
  OpenTree open;

  explicit LockedTree(const TreeOptions& options)
      : workspace(open_existing(options.workspace, true)),
        lock(workspace.file(), find_run(workspace, options.run).id),
        open(options) {}
};

void print_header(const OpenTree& open) {
  print(fmt::format("run {}: {} on {}, {}; ", open.run.id, open.stored.model.name,
                    open.problem().cluster->name(), open.run.planner));
}

int show(const TreeOptions& options, const Command& command) {
  const OpenTree open(options);
  const TreeView view{resolve_vertex(*open.tree, options.vertex), options.depth, options.top};
  if (command.json) {
    Json json = {{"run", open.run.id},
                 {"model", open.stored.model.name},
                 {"cluster", open.problem().cluster->name()},
                 {"planner", open.run.planner}};
    json.update(tree_json(*open.tree, open.problem(), view));
    print(json_text(json) + "\n");
  } else {
    print_header(open);
    print(tree_text(*open.tree, open.problem(), view));
  }
  return Done;
}

// Changes the stored tree at once, all of it or nothing. `change` says in words what it did.
int steer(const TreeOptions& options, const Command& command,
          const std::function<std::string(SearchTree&, const OpenTree&)>& change) {
  LockedTree locked(options);
  SearchTree tree = *locked.open.tree;
  const std::string words = change(tree, locked.open);
  locked.workspace.runs().save_tree(locked.open.run.id, serialise(tree));
  if (command.json) {
    Json json = tree_json(tree, locked.open.problem(), {0, 0, 0});
    json.erase("tree");
    print(json_text(Json{{"run", locked.open.run.id}, {"done", words}, {"state", json}}) + "\n");
  } else {
    print(fmt::format("run {}: {}; go on with: tree continue\n", locked.open.run.id, words));
  }
  return Done;
}

int pin_group(const TreeOptions& options, const Command& command) {
  return steer(options, command, [&](SearchTree& tree, const OpenTree& open) {
    const GroupId group = find_op_group(options.group, *open.problem().grouping);
    const Decision decision = parse_decision(options.decision, *open.problem().cluster);
    pin(tree, group, decision);
    return fmt::format("{} is pinned to {}", options.group,
                       describe(decision, *open.problem().cluster));
  });
}

int unpin_group(const TreeOptions& options, const Command& command) {
  return steer(options, command, [&](SearchTree& tree, const OpenTree& open) -> std::string {
    if (options.all == !options.group.empty()) {
      throw InputError("", "unpin", options.all ? "both an op group and --all" : "no op group",
                       "name an op group, or give --all");
    }
    if (options.all) {
      tree.pinned.clear();
      return "nothing is pinned";
    }
    const GroupId group = find_op_group(options.group, *open.problem().grouping);
    if (tree.pinned.empty() || !tree.pinned[group]) {
      throw InputError("", options.group, "is not pinned", "see: tree show");
    }
    unpin(tree, group);
    return fmt::format("{} is free", options.group);
  });
}

// What the run found best, with what is pinned since.
Strategy best_of(const OpenTree& open, const SearchTree& tree) {
  const auto row = open.run.best ? open.workspace.strategies().find(*open.run.best) : std::nullopt;
  if (!row) {
    throw InputError(open.workspace.file().string(), fmt::format("run {}", open.run.id),
                     "has no best strategy yet, which the other op groups would keep",
                     "continue it first");
  }
  const Problem& problem = open.problem();
  const auto named = parse_strategy(row->json, open.workspace.file().string() + ": strategy");
  // One with groups of its own is read as the tree's groups have most of it.
  const Rebound bound =
      bind_strategy(named, *problem.graph, *problem.grouping, *problem.cluster,
                    mean_op_times(*problem.graph, *problem.cluster, *problem.cost));
  return with_pins(tree, complete(bound.strategy, *problem.cluster));
}

int only_groups(const TreeOptions& options, const Command& command) {
  return steer(options, command, [&](SearchTree& tree, const OpenTree& open) {
    std::vector<GroupId> groups;
    for (const std::string& name : options.groups)
      groups.push_back(find_op_group(name, *open.problem().grouping));
    restrict_to(tree, groups, best_of(open, tree));
    return fmt::format("only {} is searched; all else is pinned as in the best strategy",
                       fmt::join(options.groups, ", "));
  });
}

int boost(const TreeOptions& options, const Command& command) {
  return steer(options, command, [&](SearchTree& tree, const OpenTree&) {
    const std::int32_t vertex = resolve_vertex(tree, options.vertex);
    set_weight(tree, vertex, options.factor);
    return fmt::format("the prior of {} counts {} times", vertex_path(tree, vertex),
                       options.factor);
  });
}

int exclude(const TreeOptions& options, const Command& command) {
  return steer(options, command, [&](SearchTree& tree, const OpenTree&) {
    const std::int32_t vertex = resolve_vertex(tree, options.vertex);
    set_weight(tree, vertex, 0);
    return fmt::format("{} and all below it are excluded", vertex_path(tree, vertex));
  });
}

int push(const TreeOptions& options, const Command& command) {
  Interrupt interrupt;
  check_writable(options.search.output, {options.workspace});
  LockedTree locked(options);
  auto tree = std::make_shared<SearchTree>(*locked.open.tree);
  set_focus(*tree, resolve_vertex(*tree, options.vertex));
  return continue_run(
      {locked.workspace, locked.open.run, locked.open.stored, std::move(tree), true},
      options.search, interrupt, command);
}

int go_on(const TreeOptions& options, const Command& command) {
  return resume_stored_run(options.workspace, options.run, options.search, command);
}

ReplayRange range_of(const TreeOptions& options, std::size_t steps) {
  if (steps == 0) {
    throw InputError("", "search tree", "it has no history: an earlier version made it",
                     "continue it, and replay what is new");
  }
  ReplayRange range{options.from, 0, options.top, options.scores};
  range.to = options.to.value_or(std::min(options.from + kStepsShown - 1, steps));
  if (range.from > steps || range.to > steps || range.from > range.to) {
    throw InputError("", "--from, --to",
                     fmt::format("there are no steps {} to {}", range.from, range.to),
                     fmt::format("give steps from 1 to {}, in order", steps));
  }
  return range;
}

int replay(const TreeOptions& options, const Command& command) {
  const OpenTree open(options);
  TreeReplay history(open.tree);
  const ReplayRange range = range_of(options, history.steps());
  const auto search = TreeSearchOptions::from(options_from(open.workspace, open.run));
  print(command.json ? json_text(replay_json(history, open.problem(), search, range)) + "\n"
                     : replay_text(history, open.problem(), search, range));
  return Done;
}

int compare_trees(const TreeOptions& options, const Command& command) {
  const OpenTree open(options);
  const StoredRun other = find_run(open.workspace, options.other);
  const auto other_tree = stored_tree(open.workspace, other);
  const TreeDifference difference = compare(*open.tree, *other_tree);
  if (command.json) {
    Json json = {{"run", open.run.id}, {"other", other.id}};
    json.update(comparison_json(*open.tree, *other_tree, difference, open.problem(), options.top));
    print(json_text(json) + "\n");
  } else {
    print_header(open);
    print(fmt::format("compared with run {} ({})\n", other.id, other.planner));
    print(comparison_text(*open.tree, *other_tree, difference, open.problem(), options.top));
  }
  return Done;
}

using TreeAction = int (*)(const TreeOptions&, const Command&);

class Declared {
 public:
  Declared(CLI::App& app, Command& command)
      : command_(command),
        tree_(add_command(app, command, "tree", "Look at a search, and steer it")) {
    tree_->add_option("--workspace", options_->workspace, "Workspace (.strata)")->required();
    tree_->add_option("--run", options_->run, "Number of the run; see: runs list")->required();
    tree_->require_subcommand(1);
    looking();
    steering();
    searching();
  }

 private:
  CLI::App* add(const std::string& name, const std::string& help, TreeAction action) {
    CLI::App* sub = add_command(*tree_, command_, name, help);
    sub->fallthrough();
    sub->callback([options = options_, action, &command = command_] {
      command.action = [=, &command] { return action(*options, command); };
    });
    return sub;
  }
  void with_vertex(CLI::App* sub) {
    sub->add_option("vertex", options_->vertex, "root/3/0, best or #17")->required();
  }
  void with_top(CLI::App* sub, const char* help) {
    sub->add_option("--top", options_->top, help)
        ->capture_default_str()
        ->check(CLI::Range(1, 1'000'000));
  }

  void looking() {
    CLI::App* sub = add("show", "Vertices, the most visited first", show);
    sub->add_option("--vertex", options_->vertex, "Where to begin: root/3/0, best or #17")
        ->capture_default_str();
    sub->add_option("--depth", options_->depth, "Levels below it")
        ->capture_default_str()
        ->check(CLI::Range(0, 1'000'000));
    with_top(sub, "Children of each vertex at most");
    sub = add("replay", "The search step by step", replay);
    sub->add_option("--from", options_->from, "First step")
        ->capture_default_str()
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40));
    sub->add_option("--to", options_->to, "Last step; else ten are shown")
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40));
    sub->add_flag("--scores", options_->scores, "Also what selection compared on its way");
    with_top(sub, "Priors and candidates of each step at most");
    sub = add("compare", "Two searches of the same problem", compare_trees);
    sub->add_option("--with", options_->other, "Number of the other run")->required();
    with_top(sub, "Vertices at most");
  }

  void steering() {
    CLI::App* sub = add("pin", "Fix the decision of an op group", pin_group);
    sub->add_option("group", options_->group, "Name of the op group")->required();
    sub->add_option("decision", options_->decision,
                    "MODE:DEVICES: allreduce, ps, duplicate or model-parallel; devices and device "
                    "groups with commas, or all: ps:v100x2,1080ti-0")
        ->required();
    sub = add("unpin", "Leave an op group to the search again", unpin_group);
    sub->add_option("group", options_->group, "Name of the op group");
    sub->add_flag("--all", options_->all, "Every op group");
    sub = add("only", "Pin all op groups but these to the best strategy's decisions", only_groups);
    sub->add_option("groups", options_->groups, "Names of op groups")->required();
    sub = add("boost", "Multiply the prior of a vertex; 1 undoes it, and exclude", boost);
    with_vertex(sub);
    sub->add_option("factor", options_->factor, "Above 1: searched more")
        ->required()
        ->check(CLI::Range(1e-6, 1e6));
    with_vertex(add("exclude", "Leave a vertex and all below it out of the search", exclude));
  }

  void searching() {
    CLI::App* sub = add("push", "Search below one vertex only, this once", push);
    with_vertex(sub);
    options_->search.declare(*sub);
    sub = add("continue", "Go on with the search", go_on);
    options_->search.declare(*sub);
  }

  Command& command_;
  CLI::App* tree_;
  std::shared_ptr<TreeOptions> options_ = std::make_shared<TreeOptions>();
};

}  // namespace

void add_tree(CLI::App& app, Command& command) { Declared(app, command); }

}  // namespace strato::cli
