// The tables beside problems, strategies and runs: trainings, launches, the queue, annotations and
// settings. The names and texts of what is kept.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/store/sqlite/connection.h"
#include "core/store/tables.h"

namespace strato {
namespace {

using store::Argument;
using store::ResultRow;

constexpr std::string_view kLaunches =
    "SELECT id, strategy, launcher, options, state, predicted_ns, measured_ns, note, created, job, "
    "folder";
StoredLaunch launch_from(const ResultRow& row) {
  StoredLaunch launch;
  row.read(launch.id, launch.strategy, launch.launcher, launch.options, launch.state,
           launch.predicted_ns, launch.measured_ns, launch.note, launch.created, launch.job,
           launch.folder);
  launch.result = row.unpacked(11);
  return launch;
}

Annotation annotation_from(const std::string& tags, std::string note) {
  Annotation annotation{{}, std::move(note)};
  try {
    annotation.tags = parse_tags(tags);
  } catch (const InputError&) {  // another program's: not worth losing the rest
  }
  return annotation;
}

// By the enumerations' values, as they are stored.
constexpr std::array<std::string_view, 5> kRunStates = {"running", "paused", "finished", "stopped",
                                                        "failed"};
constexpr std::array<std::string_view, 4> kLaunchStates = {"finished", "failed", "cancelled",
                                                           "running"};
constexpr std::array<std::string_view, 4> kKinds = {"model", "cluster", "run", "strategy"};

// A file may hold a state that this program does not know.
template <class State>
std::string_view name_in(std::span<const std::string_view> names, State state) {
  const auto at = static_cast<std::size_t>(state);
  return at < names.size() ? names[at] : "unknown";
}

constexpr std::string_view kBetween = " ,;\t\r\n\v\f";

// ASCII only: what differs otherwise is another tag.
std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

void check_tag(std::string_view tag) {
  const bool control = std::ranges::any_of(
      tag, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!control && tag.size() <= kLongestTag) return;
  throw InputError("", "tag", control ? "has a control character" : "is longer than 60 bytes",
                   "a tag is one short word; write a note for more");
}

}  // namespace

std::string_view name_of(RunState state) { return name_in(kRunStates, state); }
std::string_view name_of(LaunchState state) { return name_in(kLaunchStates, state); }
std::string_view name_of(StoredKind kind) { return name_in(kKinds, kind); }

StoredItem parse_stored_item(std::string_view kind, std::string_view row) {
  const auto known = std::ranges::find(kKinds, kind);
  const auto number = number_from<std::int64_t>(row, 1);
  if (known != kKinds.end() && number)
    return {static_cast<StoredKind>(known - kKinds.begin()), *number};
  throw InputError("", fmt::format("{} {}", kind, row), "is nothing in a workspace",
                   "write model, cluster, run or strategy and its number");
}

std::vector<std::string> parse_tags(std::string_view text) {
  std::vector<std::string> tags;
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    std::string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    word.remove_prefix(std::min(word.find_first_not_of('#'), word.size()));
    if (word.empty()) continue;
    check_tag(word);
    if (std::ranges::find(tags, lower(word), lower) == tags.end()) tags.emplace_back(word);
  }
  std::ranges::sort(tags, {}, lower);
  return tags;
}

std::string tags_text(const std::vector<std::string>& tags) {
  return fmt::format("{}", fmt::join(tags, " "));
}

TrainingRow TrainingTable::add(const StoredTraining& training) {
  return connection_.insert(
      "INSERT INTO training (planner, options, weights, created) VALUES (?, ?, ?, ?)",
      {training.planner, training.options, training.weights,
       connection_.created_or_now(training.created)});
}

std::vector<StoredTraining> TrainingTable::all() const {
  return connection_.rows("SELECT id, planner, options, weights, created FROM training ORDER BY id",
                          {}, [](const ResultRow& row) {
                            StoredTraining training;
                            row.read(training.id, training.planner, training.options,
                                     training.weights, training.created);
                            return training;
                          });
}

void TrainingTable::add_loss(TrainingRow training, const LossPoint& point) {
  connection_.execute(
      "INSERT INTO loss (training, step, loss, held_out_loss, elapsed_seconds) VALUES (?, ?, ?, ?, "
      "?) ON CONFLICT (training, step) DO UPDATE SET loss = excluded.loss, held_out_loss = "
      "excluded.held_out_loss, elapsed_seconds = excluded.elapsed_seconds",
      {training, point.step, point.loss, point.held_out_loss, point.elapsed_seconds});
}

std::vector<LossPoint> TrainingTable::losses(TrainingRow training) const {
  return connection_.rows(
      "SELECT step, loss, held_out_loss, elapsed_seconds FROM loss WHERE training = ? ORDER BY "
      "step",
      {training}, [](const ResultRow& row) {
        LossPoint point;
        row.read(point.step, point.loss, point.held_out_loss, point.elapsed_seconds);
        return point;
      });
}

LaunchRow LaunchTable::add(const StoredLaunch& launch) {
  const store::Packed packed = store::pack(launch.result);
  const auto id = launch.id != 0 ? std::optional(launch.id) : std::nullopt;
  return connection_.insert(
      "INSERT INTO launch (strategy, launcher, options, state, predicted_ns, measured_ns, note, "
      "created, codec, size, bytes, job, folder, id) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {launch.strategy, launch.launcher, launch.options, launch.state, launch.predicted_ns,
       launch.measured_ns, launch.note, connection_.created_or_now(launch.created), packed.codec,
       packed.size, Argument::Bytes{packed.bytes}, launch.job, launch.folder, id});
}

void LaunchTable::update(const StoredLaunch& launch) {
  const store::Packed packed = store::pack(launch.result);
  const int changed = connection_.execute(
      "UPDATE launch SET state = ?, measured_ns = ?, note = ?, codec = ?, size = ?, bytes = ?, "
      "job = ?, folder = ? WHERE id = ?",
      {launch.state, launch.measured_ns, launch.note, packed.codec, packed.size,
       Argument::Bytes{packed.bytes}, launch.job, launch.folder, launch.id});
  if (changed == 0) connection_.fail_missing(fmt::format("launch {}", launch.id));
}

void LaunchTable::remove(LaunchRow launch) {
  connection_.execute("DELETE FROM launch WHERE id = ?", {launch});
}

std::vector<StoredLaunch> LaunchTable::all() const {
  return connection_.rows(fmt::format("{} FROM launch ORDER BY id", kLaunches), {}, launch_from);
}

std::optional<StoredLaunch> LaunchTable::find(LaunchRow id) const {
  return connection_.first(
      fmt::format("{}, codec, size, bytes FROM launch WHERE id = ?", kLaunches), {id}, launch_from);
}

QueuedRow QueueTable::add(const StoredQueued& queued) {
  return connection_.insert(
      "INSERT INTO queued (place, model, cluster, planner, options, groups, created) "
      "SELECT coalesce(max(place), 0) + 1, ?, ?, ?, ?, ?, ? FROM queued",
      {queued.model, queued.cluster, queued.planner, queued.options, queued.groups,
       connection_.created_or_now(queued.created)});
}

void QueueTable::remove(QueuedRow queued) {
  connection_.execute("DELETE FROM queued WHERE id = ?", {queued});
}

void QueueTable::order(const std::vector<QueuedRow>& order) {
  connection_.write([&] {
    connection_.execute("UPDATE queued SET place = place + ?", {order.size()});
    for (std::size_t i = 0; i < order.size(); ++i)
      connection_.execute("UPDATE queued SET place = ? WHERE id = ?", {i + 1, order[i]});
  });
}

std::vector<StoredQueued> QueueTable::all() const {
  return connection_.rows(
      "SELECT id, model, cluster, planner, options, groups, created FROM queued ORDER BY place, id",
      {}, [](const ResultRow& row) {
        StoredQueued queued;
        row.read(queued.id, queued.model, queued.cluster, queued.planner, queued.options,
                 queued.groups, queued.created);
        return queued;
      });
}

void AnnotationTable::set(const StoredItem& item, const Annotation& annotation) {
  const std::string tags = tags_text(parse_tags(tags_text(annotation.tags)));
  connection_.write([&] {
    const std::string_view kind = name_of(item.kind);  // which is its table's name
    if (!connection_.first(fmt::format("SELECT 1 FROM {} WHERE id = ?", kind), {item.row},
                           [](const ResultRow&) { return true; }))
      connection_.fail_missing(fmt::format("{} {}", kind, item.row));
    if (annotation.empty()) {
      connection_.execute("DELETE FROM annotation WHERE kind = ? AND item = ?",
                          {item.kind, item.row});
    } else {
      connection_.execute(
          "INSERT OR REPLACE INTO annotation (kind, item, tags, note) VALUES (?, ?, ?, ?)",
          {item.kind, item.row, tags, annotation.note});
    }
  });
}

std::map<StoredItem, Annotation> AnnotationTable::all() const {
  std::map<StoredItem, Annotation> all;
  connection_.each("SELECT tags, note, kind, item FROM annotation WHERE kind BETWEEN 0 AND 3", {},
                   [&](const ResultRow& row) {
                     all.emplace(StoredItem{row.get<StoredKind>(2), row.get<std::int64_t>(3)},
                                 annotation_from(row.text(0), row.text(1)));
                   });
  return all;
}

Annotation AnnotationTable::of(const StoredItem& item) const {
  return connection_
      .first("SELECT tags, note FROM annotation WHERE kind = ? AND item = ?", {item.kind, item.row},
             [](const ResultRow& row) { return annotation_from(row.text(0), row.text(1)); })
      .value_or(Annotation{});
}

void SettingTable::set(std::string_view key, std::string_view value) {
  connection_.execute(
      "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = "
      "excluded.value",
      {key, value});
}

std::optional<std::string> SettingTable::find(std::string_view key) const {
  return connection_.first("SELECT value FROM setting WHERE key = ?", {key},
                           [](const ResultRow& row) { return row.text(0); });
}

std::map<std::string, std::string> SettingTable::with_prefix(std::string_view prefix) const {
  std::map<std::string, std::string> found;
  connection_.each("SELECT key, value FROM setting WHERE substr(key, 1, length(?1)) = ?1", {prefix},
                   [&](const ResultRow& row) { found.emplace(row.text(0), row.text(1)); });
  return found;
}

}  // namespace strato
