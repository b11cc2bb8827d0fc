// Search trees as bytes, for the store.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "core/io/container.h"
#include "core/search/tree/legacy_tree.h"
#include "core/search/tree/search_tree.h"

namespace strato {
namespace {

// Versions 1 and 2 were no containers (legacy_tree.h).
constexpr ContainerKind kKind{"stratoscope-search-tree", 3, "the search tree",
                              "run the search again"};

using Vertex = SearchTree::Vertex;
using BackUp = SearchTree::BackUp;
using Yield = LocalSearchState::Yield;
using EvaluationRow = std::array<std::int64_t, 3>;

// Calls `visit` with the name and the member of every column of a table.
template <class Visit>
void for_each_column(const std::vector<Vertex>&, Visit&& visit) {
  visit("parent", &Vertex::parent);
  visit("action", &Vertex::action);
  visit("depth", &Vertex::depth);
  visit("visits", &Vertex::visits);
  visit("value_sum", &Vertex::value_sum);
  visit("prior", &Vertex::prior);
  visit("reward", &Vertex::reward);
  visit("step_time_ns", &Vertex::step_time_ns);
  visit("first_child", &Vertex::first_child);
  visit("child_count", &Vertex::child_count);
  visit("prior_row", &Vertex::prior_row);
  visit("weight", &Vertex::weight);
}
template <class Visit>
void for_each_column(const std::vector<BackUp>&, Visit&& visit) {
  visit("vertices", &BackUp::vertex);
  visit("rewards", &BackUp::reward);
}

template <class Row>
Json table_json(const std::vector<Row>& rows) {
  Json json = Json::object();
  for_each_column(rows, [&]<class T>(const char* name, T Row::*member) {
    std::vector<T> column;
    for (const Row& row : rows) column.push_back(row.*member);
    json[name] = packed(column);
  });
  return json;
}

template <class Row>
std::vector<Row> parse_table(const JsonView& json, const char* damage) {
  std::vector<Row> rows;
  bool is_first = true;
  for_each_column(rows, [&]<class T>(const char* name, T Row::*member) {
    const std::vector<T> column = unpacked<T>(json.at(name));
    if (std::exchange(is_first, false)) rows.resize(column.size());
    if (column.size() != rows.size()) damaged_tree(damage);
    for (std::size_t i = 0; i < column.size(); ++i) rows[i].*member = column[i];
  });
  return rows;
}

// Small rows of nothing but numbers of one type are one list of these.
template <class Row>
Json rows_json(const std::vector<Row>& rows) {
  return packed(std::as_bytes(std::span(rows)));
}

template <class Number, class Row>
std::vector<Row> parse_rows(const JsonView& json, const char* damage) {
  constexpr std::size_t kWidth = sizeof(Row) / sizeof(Number);
  const auto numbers = unpacked<Number>(json);
  if (numbers.size() % kWidth != 0) damaged_tree(damage);
  std::vector<Row> rows(numbers.size() / kWidth);
  if (!rows.empty())
    std::memcpy(static_cast<void*>(rows.data()), numbers.data(), numbers.size() * sizeof(Number));
  return rows;
}

// Columns of roles, each with its name: those that mean something are stored.
template <class Visit>
void for_each_role(const Visit& visit) {
  visit(
      "tensors", [](auto& roles) -> auto& { return roles.tensor; });
  visit(
      "experts", [](auto& roles) -> auto& { return roles.expert; });
  visit(
      "contexts", [](auto& roles) -> auto& { return roles.context; });
  visit(
      "pieces", [](auto& roles) -> auto& { return roles.pieces; });
  visit(
      "zeros", [](auto& roles) -> auto& { return roles.states.stage; });
  visit(
      "zero_rows", [](auto& roles) -> auto& { return roles.states.rows; });
  visit(
      "zero_smallest", [](auto& roles) -> auto& { return roles.states.smallest.value; });
}

Json decisions_json(const std::vector<Decision>& decisions) {
  std::vector<std::uint8_t> modes;
  std::vector<std::int32_t> counts, devices, weights;
  for (const Decision& decision : decisions) {
    modes.push_back(static_cast<std::uint8_t>(decision.mode));
    counts.push_back(static_cast<std::int32_t>(decision.devices.size()));
    for (const DeviceShare& share : decision.devices) {
      devices.push_back(share.device.value());
      weights.push_back(share.weight);
    }
  }
  Json json = {{"modes", packed(modes)},
               {"counts", packed(counts)},
               {"devices", packed(devices)},
               {"weights", packed(weights)}};
  for_each_role([&](const char* name, auto number_in) {
    const MeshRoles none;
    std::vector<std::decay_t<decltype(number_in(none))>> column;
    for (const Decision& decision : decisions) column.push_back(number_in(decision.roles));
    const auto is_none = [&](auto number) { return number == number_in(none); };
    if (!std::ranges::all_of(column, is_none)) json[name] = packed(column);
  });
  std::vector<std::uint8_t> sequences;
  for (const Decision& decision : decisions) sequences.push_back(decision.roles.sequence ? 1 : 0);
  if (std::ranges::find(sequences, 0) != sequences.end()) json["sequences"] = packed(sequences);
  return json;
}

std::vector<Decision> parse_decisions(const JsonView& json) {
  const auto modes = unpacked<std::uint8_t>(json.at("modes"));
  const auto counts = unpacked<std::int32_t>(json.at("counts"));
  const auto devices = unpacked<std::int32_t>(json.at("devices"));
  const auto weights = unpacked<std::int32_t>(json.at("weights"));
  if (modes.size() != counts.size() || devices.size() != weights.size())
    damaged_tree("its actions are not all there");
  std::vector<Decision> decisions(modes.size());
  for_each_role([&](const char* name, auto number_in) {
    const auto stored = json.find(name);
    if (!stored) return;
    const auto column = unpacked<std::decay_t<decltype(number_in(decisions[0].roles))>>(*stored);
    if (column.size() != modes.size()) damaged_tree("its actions are not all there");
    for (std::size_t i = 0; i < decisions.size(); ++i) number_in(decisions[i].roles) = column[i];
  });
  if (const auto stored = json.find("sequences")) {
    const auto column = unpacked<std::uint8_t>(*stored);
    if (column.size() != modes.size()) damaged_tree("its actions are not all there");
    for (std::size_t i = 0; i < decisions.size(); ++i) decisions[i].roles.sequence = column[i] != 0;
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    decisions[i].mode = static_cast<Mode>(modes[i]);
    for (std::int32_t left = counts[i]; left > 0; --left, ++next) {
      if (next == devices.size()) damaged_tree("an action has a bad device share");
      decisions[i].devices.push_back(
          {DeviceId(static_cast<std::size_t>(devices[next])), weights[next]});
    }
    check_decision(decisions[i]);
  }
  if (next != devices.size()) damaged_tree("its actions are not all there");
  return decisions;
}

Json pins_json(const SearchTree& tree) {
  std::vector<std::uint8_t> pinned;
  std::vector<Decision> decisions;
  for (const auto& pin : tree.pinned) {
    pinned.push_back(pin.has_value() ? 1 : 0);
    if (pin) decisions.push_back(*pin);
  }
  return {{"groups", packed(pinned)}, {"decisions", decisions_json(decisions)}};
}

void parse_pins(const JsonView& json, SearchTree& tree) {
  const auto pinned = unpacked<std::uint8_t>(json.at("groups"));
  const std::vector<Decision> decisions = parse_decisions(json.at("decisions"));
  if (std::ranges::count(pinned, 1) != std::ssize(decisions) ||
      std::ranges::count(pinned, 0) + std::ssize(decisions) != std::ssize(pinned))
    damaged_tree("a pin is neither there nor not");
  auto next = decisions.begin();
  for (const std::uint8_t is_pinned : pinned) {
    auto& pin = tree.pinned.emplace_back();
    if (is_pinned == 1) pin = *next++;
  }
}

Json flags_json(const GroupFlags& flags) {
  return packed(std::vector<std::uint8_t>(flags.begin(), flags.end()));
}

GroupFlags parse_flags(const JsonView& json) {
  const auto flags = unpacked<std::uint8_t>(json);
  if (std::ranges::any_of(flags, [](std::uint8_t flag) { return flag > 1; }))
    damaged_tree("a flag is neither set nor not");
  return {flags.begin(), flags.end()};
}

Json candidate_json(const Candidate& candidate) {
  return {{"actions", packed(candidate.actions)}, {"unfinished", flags_json(candidate.unfinished)}};
}

Candidate parse_candidate(const JsonView& json) {
  return {unpacked<std::int32_t>(json.at("actions")), parse_flags(json.at("unfinished"))};
}

template <class T>
std::vector<T> list_of(const std::set<T>& set) {
  return {set.begin(), set.end()};
}
template <class T>
std::set<T> set_of(const std::vector<T>& list) {
  return {list.begin(), list.end()};
}

Json local_json(const LocalSearchState& state) {
  return {{"steps", state.steps},
          {"incumbent", packed(state.incumbent)},
          {"successes", packed(state.successes)},
          {"yields", rows_json(state.yields)},
          {"tried", rows_json(list_of(state.tried))},
          {"together", rows_json(state.together)},
          {"tried_pairs", packed(list_of(state.tried_pairs))},
          {"away", packed(state.away)},
          {"away_time_ns", state.away_time_ns},
          {"neighbours_done", state.neighbours_done},
          {"used_starts", packed(list_of(state.used_starts))}};
}

LocalSearchState parse_local(const JsonView& json) {
  constexpr const char* kMoves = "a move is there in part";
  return {.steps = json.at("steps").integer(),
          .incumbent = unpacked<std::int32_t>(json.at("incumbent")),
          .successes = unpacked<std::int64_t>(json.at("successes")),
          .yields = parse_rows<std::int64_t, Yield>(json.at("yields"), "a yield is there in part"),
          .tried = set_of(parse_rows<std::int32_t, Move>(json.at("tried"), kMoves)),
          .together = parse_rows<std::int32_t, Move>(json.at("together"), kMoves),
          .tried_pairs = set_of(unpacked<std::int64_t>(json.at("tried_pairs"))),
          .away = unpacked<std::int32_t>(json.at("away")),
          .away_time_ns = json.at("away_time_ns").integer(),
          .neighbours_done = json.at("neighbours_done").boolean(),
          .used_starts = set_of(unpacked<std::int64_t>(json.at("used_starts")))};
}

Json state_json(const SearchState& state) {
  Json json = {{"local_iterations", state.local_iterations},
               {"baseline_ns", state.baseline_ns},
               {"pinned_since", state.pinned_since},
               {"pins", state.pins.hex()},
               {"packed", state.packed},
               {"unfinished", state.unfinished},
               {"contradicted", state.contradicted},
               {"space_next", state.space_next},
               {"incumbent_unfinished", flags_json(state.incumbent_unfinished)},
               {"tried_otherwise", flags_json(state.tried_otherwise)},
               {"all_tried_otherwise", state.all_tried_otherwise},
               {"aside", candidate_json(state.aside)},
               {"barred", candidate_json(state.barred)},
               {"local", local_json(state.local)}};
  if (state.second)
    json["second"] = {{"tried_finished", state.second->tried_finished},
                      {"local", local_json(state.second->local)}};
  return json;
}

// Whether the numbers fit the problem is up to the search that goes on from it.
SearchState parse_state(const JsonView& json) {
  const auto count = [&](const char* name) { return json.at(name).integer(0); };
  SearchState state{.local_iterations = count("local_iterations"),
                    .baseline_ns = count("baseline_ns"),
                    .pinned_since = static_cast<std::uint64_t>(count("pinned_since")),
                    .pins = Digest::from_hex(json.at("pins").string()),
                    .packed = json.at("packed").boolean(),
                    .unfinished = json.at("unfinished").boolean(),
                    .contradicted = json.at("contradicted").boolean(),
                    .space_next = static_cast<std::uint64_t>(count("space_next")),
                    .incumbent_unfinished = parse_flags(json.at("incumbent_unfinished")),
                    .tried_otherwise = parse_flags(json.at("tried_otherwise")),
                    .all_tried_otherwise = json.at("all_tried_otherwise").boolean(),
                    .aside = parse_candidate(json.at("aside")),
                    .barred = parse_candidate(json.at("barred")),
                    .local = parse_local(json.at("local")),
                    .second = {}};
  if (const auto second = json.find("second"))
    state.second = {second->at("tried_finished").boolean(), parse_local(second->at("local"))};
  return state;
}

Json record_json(const EvaluationRecord& record) {
  Json batches = Json::array();
  for (const auto& batch : record.batches) {
    std::vector<EvaluationRow> rows;
    for (const auto& [time, feasible, overflow] : batch) rows.push_back({time, feasible, overflow});
    batches.push_back(rows_json(rows));
  }
  return {
      {"planner", record.planner}, {"options", record.options}, {"batches", std::move(batches)}};
}

EvaluationRecord parse_record(const JsonView& json) {
  EvaluationRecord record{json.at("planner").string(), json.at("options").string(), {}};
  for (const JsonView& batch : json.at("batches").items()) {
    auto& evaluations = record.batches.emplace_back();
    for (const auto& [time, feasible, overflow] :
         parse_rows<std::int64_t, EvaluationRow>(batch, "an evaluation is there in part")) {
      if (time < 0 || overflow < 0) damaged_tree("an evaluation is negative");
      evaluations.push_back({time, feasible != 0, overflow});
    }
  }
  return record;
}

SearchTree parse_container(std::string_view bytes) {
  const Contained contained = read_container(bytes, kKind, "search tree");
  const JsonView& json = contained.value;
  const auto identity = unpacked<std::uint64_t>(json.at("problem_and_seed"));
  if (identity.size() != 3) damaged_tree("it does not say of which problem it is");
  SearchTree tree;
  tree.problem = {identity[0], identity[1]};
  tree.seed = identity[2];
  tree.iterations = json.at("iterations").integer(0);
  tree.actions = parse_decisions(json.at("actions"));
  tree.order = parse_rows<std::int32_t, GroupId>(json.at("order"), "its order is not all there");
  tree.vertices = parse_table<Vertex>(json.at("vertices"), "its vertices are not all there");
  tree.priors = unpacked<float>(json.at("priors"));
  parse_pins(json.at("pinned"), tree);
  tree.focus = static_cast<std::int32_t>(
      json.at("focus").integer(-1, std::numeric_limits<std::int32_t>::max()));
  tree.log = parse_table<BackUp>(json.at("log"), "its log is not all there");
  tree.state = parse_state(json.at("state"));
  if (const auto record = json.find("record")) tree.record = parse_record(*record);
  return tree;
}

}  // namespace

std::string serialise(const SearchTree& tree) {
  const std::vector<std::uint64_t> identity = {tree.problem.high, tree.problem.low, tree.seed};
  Json json = {{"problem_and_seed", packed(identity)},
               {"iterations", tree.iterations},
               {"actions", decisions_json(tree.actions)},
               {"order", rows_json(tree.order)},
               {"vertices", table_json(tree.vertices)},
               {"priors", packed(tree.priors)},
               {"pinned", pins_json(tree)},
               {"focus", tree.focus},
               {"log", table_json(tree.log)},
               {"state", state_json(tree.state)}};
  if (tree.record) json["record"] = record_json(*tree.record);
  return write_container(kKind, json);
}

SearchTree parse_search_tree(std::string_view bytes) {
  if (auto tree = read_legacy_tree(bytes)) return *std::move(tree);
  SearchTree tree = parse_container(bytes);
  check_tree(tree);
  return tree;
}

}  // namespace strato
