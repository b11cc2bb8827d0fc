#include "views/lessons/lesson_reader.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "views/lessons/lesson_actions.h"
#include "views/lessons/placeholders.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr std::int64_t kMostSteps = 100, kMostBatch = 1 << 20, kMostIterations = 1'000'000;
constexpr std::size_t kMostText = 20'000;

QString text_of(const JsonView& view) {
  const std::string value = view.string();
  if (value.size() > kMostText) view.fail("is longer than 20,000 bytes", "split it into steps");
  return text(value);
}

QString optional_text(const JsonView& view, std::string_view key) {
  const auto found = view.find(key);
  return found ? text_of(*found) : QString();
}

// Markdown whose placeholders are known.
QString prose(const JsonView& view) {
  const QString value = text_of(view);
  const QString unknown = unknown_placeholder(value);
  if (!unknown.isEmpty()) {
    view.fail("there is no placeholder " + unknown.toStdString() + "}",
              "write one of {" + placeholder_names().join(QStringLiteral("}, {")).toStdString() +
                  "}, or {{ for a brace");
  }
  return value;
}

QString optional_prose(const JsonView& view, std::string_view key) {
  const auto found = view.find(key);
  return found ? prose(*found) : QString();
}

QStringList texts(const JsonView& view) {
  QStringList all;
  for (const JsonView& item : view.items()) all << text_of(item);
  return all;
}

QString one_of(const JsonView& view, const QStringList& allowed, const char* what) {
  const QString value = text_of(view);
  if (!allowed.contains(value)) {
    view.fail("there is no " + std::string(what) + " \"" + value.toStdString() + "\"",
              "write one of " + allowed.join(QStringLiteral(", ")).toStdString());
  }
  return value;
}

GroupChoice group_choice(const JsonView& view) {
  using Which = GroupChoice::Which;
  if (view.is_array()) {
    GroupChoice choice{Which::Named, texts(view)};
    if (choice.names.isEmpty()) view.fail("names no group", "name one, or write \"all\"");
    return choice;
  }
  static const std::vector<std::pair<QString, Which>> known = {
      {QStringLiteral("all"), Which::All},
      {QStringLiteral("any"), Which::Any},
      {QStringLiteral("slowest"), Which::Slowest},
      {QStringLiteral("most-parameters"), Which::MostParameters},
      {QStringLiteral("with-parameters"), Which::WithParameters}};
  const QString name = text_of(view);
  for (const auto& [key, which] : known) {
    if (key == name) return {which, {}};
  }
  view.fail("there is no choice of groups \"" + name.toStdString() + "\"",
            "write all, any, slowest, most-parameters, with-parameters, or an array of names");
}

Mode mode_of(const JsonView& view) {
  const auto mode = mode_from(view.string());
  if (!mode) {
    view.fail("there is no mode \"" + view.string() + "\"",
              "write replicate-allreduce, replicate-ps, duplicate or model-parallel");
  }
  return *mode;
}

// What a condition and an action say about a decision.
template <class Decided>
void read_decision(const JsonView& view, Decided& decided) {
  view.allow_only({"groups", "mode", "devices", "shares"});
  decided.groups = group_choice(view.at("groups"));
  if (const auto mode = view.find("mode")) decided.mode = mode_of(*mode);
  if (const auto devices = view.find("devices")) decided.devices = texts(*devices);
  if (const auto shares = view.find("shares")) {
    decided.uneven = one_of(*shares, {QStringLiteral("even"), QStringLiteral("by-speed")},
                            "kind of shares") == QStringLiteral("by-speed");
  }
  if (!decided.mode && decided.devices.isEmpty() && !decided.uneven) {
    view.fail("says nothing about the groups", "add mode, devices or shares");
  }
}

class ConditionReader {
 public:
  explicit ConditionReader(const QStringList& places) : places_(places) {}

  std::vector<Condition> read(const JsonView& view) const {
    std::vector<Condition> conditions;
    for (const auto& [key, value] : view.members()) conditions.push_back(one(view, key, value));
    if (conditions.empty()) view.fail("asks for nothing", "add a condition");
    return conditions;
  }

 private:
  using Kind = Condition::Kind;

  Condition one(const JsonView& view, const std::string& key, const JsonView& value) const {
    Condition condition;
    if (key == "view") {
      condition.name = one_of(value, places_, "view");
    } else if (read_selection(key, value, condition) || read_number(key, value, condition) ||
               read_flag(key, value, condition)) {
    } else if (key == "decided") {
      condition.kind = Kind::GroupsDecided;
      read_decision(value, condition);
    } else {
      view.fail("there is no condition \"" + key + "\"",
                "write one of view, selected_group, selected_device, selected_link, selected_task, "
                "selected_range, decided, step_time_below_ms, faster_by, slower_by, speedup_above, "
                "less_memory_by, feasible, search_finished, replay_open, replay_before, batch, "
                "sufficient_factors");
    }
    return condition;
  }

  // A name, or true for any.
  static bool read_selection(const std::string& key, const JsonView& value, Condition& condition) {
    static const std::vector<std::pair<std::string, Kind>> named = {
        {"selected_group", Kind::GroupSelected},
        {"selected_device", Kind::DeviceSelected},
        {"selected_link", Kind::LinkSelected}};
    for (const auto& [name, kind] : named) {
      if (key != name) continue;
      condition.kind = kind;
      if (value.is_string()) {
        condition.name = text_of(value);
      } else if (!value.boolean()) {
        value.fail("is false", "write a name, or true for any");
      }
      return true;
    }
    return false;
  }

  static bool read_number(const std::string& key, const JsonView& value, Condition& condition) {
    struct Known {
      const char* key;
      Kind kind;
      double low, high, scale;
    };
    static constexpr Known kKnown[] = {
        {"step_time_below_ms", Kind::StepTimeBelow, 1e-6, 1e9, 1e-3},
        {"faster_by", Kind::FasterBy, 0.001, 0.999, 1},
        {"slower_by", Kind::SlowerBy, 0.001, 1000, 1},
        {"speedup_above", Kind::SpeedupAbove, 0.001, 1000, 1},
        {"less_memory_by", Kind::LessMemoryBy, 0.001, 0.999, 1},
        {"replay_before", Kind::ReplayBefore, 1, 1e9, 1},
        {"batch", Kind::Batch, 1, static_cast<double>(kMostBatch), 1}};
    for (const Known& known : kKnown) {
      if (key != known.key) continue;
      condition.kind = known.kind;
      condition.number = value.number(known.low, known.high) * known.scale;
      return true;
    }
    return false;
  }

  static bool read_flag(const std::string& key, const JsonView& value, Condition& condition) {
    static const std::vector<std::pair<std::string, Kind>> known = {
        {"selected_task", Kind::TaskSelected}, {"selected_range", Kind::RangeSelected},
        {"feasible", Kind::Feasible},          {"search_finished", Kind::SearchFinished},
        {"replay_open", Kind::ReplayOpen},     {"sufficient_factors", Kind::SufficientFactors}};
    for (const auto& [name, kind] : known) {
      if (key != name) continue;
      condition.kind = kind;
      condition.flag = value.boolean();
      const bool either =
          kind == Kind::Feasible || kind == Kind::ReplayOpen || kind == Kind::SufficientFactors;
      if (!condition.flag && !either) value.fail("is false", "write true");
      return true;
    }
    return false;
  }

  const QStringList& places_;
};

class ActionReader {
 public:
  explicit ActionReader(const QStringList& places) : places_(places) {}

  std::vector<LessonAction> read(const JsonView& view) const {
    std::vector<LessonAction> actions;
    for (const JsonView& item : view.items()) actions.push_back(one(item));
    return actions;
  }

 private:
  using Kind = LessonAction::Kind;

  LessonAction one(const JsonView& view) const {
    const auto members = view.members();
    if (members.size() != 1) view.fail("has not exactly one key", "write one action in each {}");
    const auto& [key, value] = members.front();
    LessonAction action;
    if (key == "show_view") {
      action.name = one_of(value, places_, "view");
    } else if (key == "strategy") {
      action.kind = Kind::Strategy;
      action.name = text_of(value);
      if (!is_baseline(action.name)) {
        value.fail("there is no strategy \"" + action.name.toStdString() + "\"",
                   "write dp-allreduce, dp-ps, dp-allreduce-proportional or single-device");
      }
    } else if (key == "decide") {
      action.kind = Kind::Decide;
      read_decision(value, action);
    } else if (key == "search") {
      action.kind = Kind::Search;
      value.allow_only({"planner", "iterations"});
      action.name = text_of(value.at("planner"));
      action.number = static_cast<double>(value.at("iterations").integer(1, kMostIterations));
    } else if (!read_selection(key, value, action) && !read_number(key, value, action)) {
      view.fail("there is no action \"" + key + "\"",
                "write one of show_view, strategy, decide, select_group, select_device, "
                "select_link, select_task, select_range, search, replay, replay_step, batch");
    }
    return action;
  }

  static bool read_selection(const std::string& key, const JsonView& value, LessonAction& action) {
    if (key == "select_group") {
      action.kind = Kind::SelectGroup;
      action.groups = group_choice(value);
    } else if (key == "select_device" || key == "select_link") {
      action.kind = key == "select_device" ? Kind::SelectDevice : Kind::SelectLink;
      action.name = text_of(value);
    } else if (key == "select_task") {
      action.kind = Kind::SelectTask;
      action.name = one_of(value, {QStringLiteral("computation"), QStringLiteral("communication")},
                           "kind of task");
    } else if (key == "select_range") {
      action.kind = Kind::SelectRange;
      const auto ends = value.items();
      if (ends.size() != 2) value.fail("is not two numbers", "write [from, to], parts of the step");
      action.number = ends[0].number(0, 1);
      action.until = ends[1].number(0, 1);
      if (action.until <= action.number) value.fail("ends before it begins", "write [from, to]");
    } else {
      return false;
    }
    return true;
  }

  static bool read_number(const std::string& key, const JsonView& value, LessonAction& action) {
    if (key == "replay") {
      action.kind = Kind::Replay;
      action.flag = value.boolean();
    } else if (key == "replay_step") {
      action.kind = Kind::ReplaySeek;
      action.number = static_cast<double>(value.integer(0, kMostIterations));
    } else if (key == "batch") {
      action.kind = Kind::Batch;
      action.number = static_cast<double>(value.integer(1, kMostBatch));
    } else {
      return false;
    }
    return true;
  }

  const QStringList& places_;
};

LessonStep read_step(const JsonView& view, const QStringList& places) {
  view.allow_only({"title", "text", "highlight", "ask", "until", "hint", "do", "afterwards"});
  LessonStep step;
  step.title = text_of(view.at("title"));
  step.text = prose(view.at("text"));
  if (const auto highlight = view.find("highlight")) {
    for (const JsonView& item : highlight->items()) step.highlight << one_of(item, places, "place");
  }
  step.ask = optional_prose(view, "ask");
  step.hint = optional_prose(view, "hint");
  step.afterwards = optional_prose(view, "afterwards");
  if (const auto actions = view.find("do")) step.actions = ActionReader(places).read(*actions);
  if (const auto until = view.find("until")) step.until = ConditionReader(places).read(*until);
  if (step.ask.isEmpty() != step.until.empty()) {
    view.fail(
        step.ask.isEmpty() ? "has \"until\" without \"ask\"" : "has \"ask\" without \"until\"",
        "a step that asks for something also says how it is checked");
  }
  if (step.ask.isEmpty() == !step.actions.empty()) {
    view.fail(step.ask.isEmpty() ? "has \"do\" without \"ask\"" : "has \"ask\" without \"do\"",
              "\"do\" does what is asked for");
  }
  return step;
}

// "vgg19" is a sample, "small.json" lies beside the lesson.
std::filesystem::path found_file(const JsonView& view, const std::filesystem::path& lesson,
                                 const char* folder, const char* suffix) {
  const std::filesystem::path name = view.string();
  const bool own = name.has_extension() || name.has_parent_path();
  const std::filesystem::path file =
      own ? lesson.parent_path() / name
          : home_directory() / "sample_graphs" / folder / (name.string() + suffix);
  if (!std::filesystem::is_regular_file(file)) {
    view.fail("there is no file " + file.string(),
              own ? "files lie beside the lesson"
                  : std::string("write the name of a sample, or one with ") + suffix +
                        " beside the lesson");
  }
  return file;
}

void read_problem(const JsonView& root, Lesson& lesson, const std::filesystem::path& file) {
  lesson.model = found_file(root.at("model"), file, "models", ".onnx");
  lesson.cluster = found_file(root.at("cluster"), file, "clusters", ".json");
  if (const auto batch = root.find("batch")) lesson.batch = batch->integer(1, kMostBatch);
  if (const auto groups = root.find("groups"))
    lesson.max_groups = static_cast<int>(groups->integer(1, 1000));
  if (const auto training = root.find("training")) lesson.training = training->boolean();
}

}  // namespace

Lesson parse_lesson(std::string_view json, const std::filesystem::path& file,
                    const QStringList& places) {
  const JsonView root = JsonView::parse(json, file.string());
  const bool exercise = root.is_object() && root.find("format") &&
                        root.find("format")->is_string() &&
                        root.find("format")->string() == "stratoscope-exercise";
  root.expect_format(exercise ? "stratoscope-exercise" : "stratoscope-lesson", 1);
  Lesson lesson;
  lesson.id = text(file.stem().string());
  lesson.is_exercise = exercise;
  if (exercise) {
    root.allow_only({"format", "version", "title", "summary", "model", "cluster", "batch", "groups",
                     "training", "start", "text"});
    lesson.text = prose(root.at("text"));
  } else {
    root.allow_only({"format", "version", "title", "summary", "model", "cluster", "batch", "groups",
                     "training", "start", "steps"});
  }
  lesson.title = text_of(root.at("title"));
  lesson.summary = optional_text(root, "summary");
  read_problem(root, lesson, file);
  if (const auto start = root.find("start")) lesson.start = ActionReader(places).read(*start);
  if (exercise) return lesson;
  const JsonView steps = root.at("steps");
  for (const JsonView& item : steps.items()) lesson.steps.push_back(read_step(item, places));
  if (lesson.steps.empty()) steps.fail("is empty", "a lesson has at least one step");
  if (static_cast<std::int64_t>(lesson.steps.size()) > kMostSteps)
    steps.fail("has more than 100 steps", "split the lesson");
  return lesson;
}

Lesson read_lesson(const std::filesystem::path& file, const QStringList& places) {
  return parse_lesson(read_file(file), file, places);
}

Lessons read_lessons(const std::filesystem::path& folder, const QStringList& places) {
  Lessons found;
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool lesson = name.ends_with(".lesson.json") || name.ends_with(".exercise.json");
    if (lesson) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    try {
      found.lessons.push_back(read_lesson(file, places));
    } catch (const InputError& error) {
      found.errors << QString::fromUtf8(error.what());
    }
  }
  return found;
}

std::filesystem::path lessons_folder() { return home_directory() / "resources" / "lessons"; }

}  // namespace strato
