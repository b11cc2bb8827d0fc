#include "views/search/step_story.h"

#include <QCoreApplication>

#include "core/search/tree/search_tree.h"
#include "views/style/style.h"

namespace strato {
namespace {

struct StoryWords {
  Q_DECLARE_TR_FUNCTIONS(StepStory)
};

constexpr std::size_t kMostChoices = 2;  // of the path that the story names: the last ones

const SearchTree::Vertex& vertex(const TreeReplay& replay, std::int32_t id) {
  return replay.tree().vertices[static_cast<std::size_t>(id)];
}

QString number(double value) { return style::significant(value, 3); }

QString signed_number(double value) {
  return value >= 0 ? QStringLiteral("+") + number(value) : number(value);
}

// "conv4 → AllReduce on v100 because U = 1.31 was the largest of 4".
QString choice(const TreeReplay& before, std::int32_t parent, std::int32_t child,
               const SearchTreeModel& names, const TreeSearchOptions& options) {
  QString text = QStringLiteral("<b>%1</b>").arg(names.action_text(child).toHtmlEscaped());
  if (!before.exists(parent)) return text;
  const std::vector<PuctRow> rows = puct_rows(before, parent, options);
  const std::int32_t action = vertex(before, child).action;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool opens = rows[i].child < 0 && !before.exists(child);
    if (rows[i].child != child && !(opens && (rows[i].action == action || rows[i].action < 0)))
      continue;
    text += StoryWords::tr(" because U = %1").arg(number(rows[i].score()));
    if (best_row(rows) == i) {
      if (rows.size() > 1) text += StoryWords::tr(" was the largest of %1").arg(rows.size());
    } else {
      text += StoryWords::tr(" (better ones were waiting or searched out)");
    }
    return text;
  }
  return text;
}

QString selection(const TreeReplay& before, const std::vector<std::int32_t>& path,
                  const SearchTreeModel& names, const TreeSearchOptions& options) {
  if (path.size() < 2) return StoryWords::tr("The search began: nothing was decided");
  const std::size_t begin = path.size() - 1 > kMostChoices ? path.size() - kMostChoices : 1;
  QStringList choices;
  for (std::size_t i = begin; i < path.size(); ++i) {
    choices << choice(before, path[i - 1], path[i], names, options);
  }
  const QString skipped = begin == 1 ? QString()
                          : begin == 2
                              ? StoryWords::tr("one decision down, then to ")
                              : StoryWords::tr("%1 decisions down, then to ").arg(begin - 1);
  return StoryWords::tr("Selection went ") + skipped + choices.join(StoryWords::tr(", then "));
}

QString evaluation(const TreeReplay& after, std::int32_t leaf) {
  const SearchTree::Vertex& v = vertex(after, leaf);
  const float reward = after.tree().log[after.step() - 1].reward;
  const QString time =
      v.step_time_ns > 0 ? style::time(Nanos(v.step_time_ns)) : StoryWords::tr("no time");
  if (reward <= -1) {
    return StoryWords::tr("evaluated: does not fit into memory, reward %1")
        .arg(signed_number(reward));
  }
  return StoryWords::tr("evaluated: %1, reward %2").arg(time, signed_number(reward));
}

QString back_up(const TreeReplay& before, const TreeReplay& after,
                const std::vector<std::int32_t>& path, const SearchTreeModel& names) {
  const std::int32_t shown = path.size() > 1 ? path[1] : path[0];
  const QString name =
      shown == 0 ? StoryWords::tr("the start")
      : path.size() == 2
          ? StoryWords::tr("there")
          : QStringLiteral("<b>%1</b> …").arg(names.group_text(shown).toHtmlEscaped());
  QString text = StoryWords::tr("backed up to %1 %2")
                     .arg(path.size())
                     .arg(path.size() == 1 ? StoryWords::tr("vertex") : StoryWords::tr("vertices"));
  text += QStringLiteral("; %1: N %2 → %3")
              .arg(name)
              .arg(before.visits(shown))
              .arg(after.visits(shown));
  if (before.visits(shown) == 0)
    return text + QStringLiteral(", Q %1").arg(number(after.value(shown)));
  return text +
         QStringLiteral(", Q %1 → %2").arg(number(before.value(shown)), number(after.value(shown)));
}

}  // namespace

std::size_t best_row(const std::vector<PuctRow>& rows) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].score() > rows[best].score()) best = i;
  }
  return best;
}

QString step_story(const TreeReplay& before, const TreeReplay& after, const SearchTreeModel& names,
                   const TreeSearchOptions& options) {
  if (after.step() == 0) {
    return StoryWords::tr(
        "Before the first step: the tree is empty. Step forward to see how "
        "selection, expansion, evaluation and back-up make it grow.");
  }
  const std::vector<std::int32_t> path = after.path();
  const std::int32_t leaf = path.back();
  QString expansion;
  if (!after.expanded()) {
    expansion = StoryWords::tr("known already");
  } else if (leaf > 0) {
    expansion = StoryWords::tr("expanded with prior %1").arg(number(vertex(after, leaf).prior));
  } else {
    expansion = StoryWords::tr("everything data parallel");
  }
  return selection(before, path, names, options) + QStringLiteral("; ") + expansion +
         QStringLiteral("; ") + evaluation(after, leaf) + QStringLiteral("; ") +
         back_up(before, after, path, names) + QLatin1Char('.');
}

}  // namespace strato
