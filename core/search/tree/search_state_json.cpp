#include "core/search/tree/search_state_json.h"

#include <utility>

#include "core/io/container.h"
#include "core/search/tree/search_tree_check.h"

namespace strato {
namespace {

Json flags_json(const GroupFlags& flags) {
  return packed(std::vector<std::uint8_t>(flags.begin(), flags.end()));
}

GroupFlags parse_flags(const JsonView& json) {
  const auto flags = unpacked<std::uint8_t>(json);
  for (const std::uint8_t flag : flags)
    if (flag > 1) damaged_tree("a flag is neither set nor not");
  return {flags.begin(), flags.end()};
}

Json candidate_json(const Candidate& candidate) {
  return {{"actions", packed(candidate.actions)}, {"unfinished", flags_json(candidate.unfinished)}};
}

Candidate parse_candidate(const JsonView& json) {
  return {unpacked<std::int32_t>(json.at("actions")), parse_flags(json.at("unfinished"))};
}

Json moves_json(const std::vector<Move>& moves) {
  std::vector<std::int32_t> numbers;
  for (const Move& move : moves)
    for (const std::int32_t number : {move.kind, move.group, move.action})
      numbers.push_back(number);
  return packed(numbers);
}

std::vector<Move> parse_moves(const JsonView& json) {
  const auto numbers = unpacked<std::int32_t>(json);
  if (numbers.size() % 3 != 0) damaged_tree("a move is there in part");
  std::vector<Move> moves;
  for (std::size_t i = 0; i < numbers.size(); i += 3)
    moves.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  return moves;
}

Json yields_json(const std::vector<LocalSearchState::Yield>& yields) {
  std::vector<std::int64_t> numbers;
  for (const auto& [tries, wins] : yields)
    for (const std::int64_t number : {tries, wins}) numbers.push_back(number);
  return packed(numbers);
}

std::vector<LocalSearchState::Yield> parse_yields(const JsonView& json) {
  const auto numbers = unpacked<std::int64_t>(json);
  if (numbers.size() % 2 != 0) damaged_tree("a yield is there in part");
  std::vector<LocalSearchState::Yield> yields;
  for (std::size_t i = 0; i < numbers.size(); i += 2)
    yields.push_back({numbers[i], numbers[i + 1]});
  return yields;
}

Json local_json(const LocalSearchState& state) {
  return {{"steps", state.steps},
          {"incumbent", packed(state.incumbent)},
          {"successes", packed(state.successes)},
          {"yields", yields_json(state.yields)},
          {"tried", moves_json(state.tried)},
          {"together", moves_json(state.together)},
          {"tried_pairs", packed(state.tried_pairs)},
          {"away", packed(state.away)},
          {"away_time_ns", state.away_time_ns},
          {"neighbours_done", state.neighbours_done},
          {"used_starts", packed(state.used_starts)}};
}

LocalSearchState parse_local(const JsonView& json) {
  LocalSearchState state;
  state.steps = json.at("steps").integer();
  state.incumbent = unpacked<std::int32_t>(json.at("incumbent"));
  state.successes = unpacked<std::int64_t>(json.at("successes"));
  state.yields = parse_yields(json.at("yields"));
  state.tried = parse_moves(json.at("tried"));
  state.together = parse_moves(json.at("together"));
  state.tried_pairs = unpacked<std::int64_t>(json.at("tried_pairs"));
  state.away = unpacked<std::int32_t>(json.at("away"));
  state.away_time_ns = json.at("away_time_ns").integer();
  state.neighbours_done = json.at("neighbours_done").boolean();
  state.used_starts = unpacked<std::int64_t>(json.at("used_starts"));
  return state;
}

}  // namespace

Json search_state_json(const SearchState& state) {
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

SearchState parse_search_state(const JsonView& json) {
  SearchState state;
  state.local_iterations = json.at("local_iterations").integer(0);
  state.baseline_ns = json.at("baseline_ns").integer(0);
  state.pinned_since = static_cast<std::uint64_t>(json.at("pinned_since").integer(0));
  state.pins = Digest::from_hex(json.at("pins").string());
  state.packed = json.at("packed").boolean();
  state.unfinished = json.at("unfinished").boolean();
  state.contradicted = json.at("contradicted").boolean();
  state.space_next = static_cast<std::uint64_t>(json.at("space_next").integer(0));
  state.incumbent_unfinished = parse_flags(json.at("incumbent_unfinished"));
  state.tried_otherwise = parse_flags(json.at("tried_otherwise"));
  state.all_tried_otherwise = json.at("all_tried_otherwise").boolean();
  state.aside = parse_candidate(json.at("aside"));
  state.barred = parse_candidate(json.at("barred"));
  state.local = parse_local(json.at("local"));
  if (const auto second = json.find("second"))
    state.second = SearchState::Unfinished{second->at("tried_finished").boolean(),
                                           parse_local(second->at("local"))};
  return state;
}

Json record_json(const EvaluationRecord& record) {
  Json batches = Json::array();
  for (const auto& batch : record.batches) {
    std::vector<std::int64_t> numbers;
    for (const auto& evaluation : batch)
      for (const std::int64_t number :
           {evaluation.step_time_ns, std::int64_t{evaluation.feasible}, evaluation.overflow_bytes})
        numbers.push_back(number);
    batches.push_back(packed(numbers));
  }
  return {
      {"planner", record.planner}, {"options", record.options}, {"batches", std::move(batches)}};
}

EvaluationRecord parse_record(const JsonView& json) {
  EvaluationRecord record;
  record.planner = json.at("planner").string();
  record.options = json.at("options").string();
  for (const JsonView& batch : json.at("batches").items()) {
    const auto numbers = unpacked<std::int64_t>(batch);
    if (numbers.size() % 3 != 0) damaged_tree("an evaluation is there in part");
    auto& evaluations = record.batches.emplace_back();
    for (std::size_t i = 0; i < numbers.size(); i += 3) {
      if (numbers[i] < 0 || numbers[i + 2] < 0) damaged_tree("an evaluation is negative");
      evaluations.push_back({numbers[i], numbers[i + 1] != 0, numbers[i + 2]});
    }
  }
  return record;
}

}  // namespace strato
