#include "views/models/budget.h"

#include <QRegularExpression>
#include <algorithm>

namespace strato {

bool parse_budget(const QString& input, PlannerOptions& options) {
  static const QRegularExpression form(QStringLiteral(
      "^\\s*([0-9]+(?:\\.[0-9]+)?)\\s*(s|sec|seconds?|min|minutes?|i|it|iterations?|)\\s*$"));
  const auto match = form.match(input.toLower());
  if (!match.hasMatch()) return false;
  const double number = match.captured(1).toDouble();
  const QString unit = match.captured(2);
  if (!(number > 0) || number > 1e9) return false;
  if (unit.startsWith(QLatin1Char('s'))) {
    options.budget_seconds = number;
  } else if (unit.startsWith(QLatin1Char('m'))) {
    options.budget_seconds = 60 * number;
  } else {
    options.budget_seconds = 0;
    options.iterations = std::max<std::int64_t>(1, static_cast<std::int64_t>(number));
  }
  return true;
}

}  // namespace strato
