// Names of ops are paths ("features/features.2/Conv"): the end says most, so the front goes first.
#pragma once

#include <QFontMetricsF>
#include <QString>

namespace strato::style {

// As many of the last parts of `name` as fit into `width`; when not even the last fits, that is
// elided.
QString fitting_name(const QString& name, const QFontMetricsF& metrics, double width);

// Elided as QFontMetricsF has it, but at a cost that does not grow with the length of the text.
QString elided(const QString& text, const QFontMetricsF& metrics, Qt::TextElideMode mode,
               double width);

// A sentence whose names may have thousands of letters, which nobody reads and which take long to
// lay out: of words of more than 160 letters only the ends are left.
QString with_readable_words(const QString& sentence);

}  // namespace strato::style
