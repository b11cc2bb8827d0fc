#include "views/style/fitting_name.h"

#include <QStringList>
#include <algorithm>

namespace strato::style {

QString fitting_name(const QString& name, const QFontMetricsF& metrics, double width) {
  // Measuring costs by the letter: from the end, since most names are longer than their place.
  qsizetype begin = name.lastIndexOf(QLatin1Char('/'), name.size() - 2) + 1;
  QString text = name.mid(begin);
  const auto most =
      static_cast<qsizetype>(std::max(0.0, width) / metrics.averageCharWidth() * 2) + 2;
  if (text.size() > 2 * most || metrics.horizontalAdvance(text) > width) {
    return metrics.elidedText(text.left(most), Qt::ElideRight, width);
  }
  while (begin > 1) {
    begin = name.lastIndexOf(QLatin1Char('/'), begin - 2) + 1;
    const QString longer = name.mid(begin);
    if (metrics.horizontalAdvance(longer) > width) break;
    text = longer;
  }
  return text;
}

// What is cut away could never be seen: letters as wide as a quarter of the mean one fit in twice.
QString elided(const QString& text, const QFontMetricsF& metrics, Qt::TextElideMode mode,
               double width) {
  const auto most =
      static_cast<qsizetype>(8 * std::max(0.0, width) / metrics.averageCharWidth()) + 8;
  if (text.size() <= 2 * most) return metrics.elidedText(text, mode, width);
  const QString ends = mode == Qt::ElideRight  ? text.left(2 * most)
                       : mode == Qt::ElideLeft ? text.right(2 * most)
                                               : text.left(most) + text.right(most);
  return metrics.elidedText(ends, mode, width);
}

QString with_readable_words(const QString& sentence) {
  constexpr qsizetype kMost = 160, kEnd = 60;
  QStringList words = sentence.split(QLatin1Char(' '));
  for (QString& word : words) {
    if (word.size() > kMost) word = word.left(kEnd) + QChar(0x2026) + word.right(kEnd);
  }
  return words.join(QLatin1Char(' '));
}

}  // namespace strato::style
