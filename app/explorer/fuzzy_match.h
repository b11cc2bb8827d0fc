// Finds what a person means by a few letters: they must appear in the text in this order, in any
// case; letters at the start of words and next to each other count more.
#pragma once

#include <QString>
#include <QVector>
#include <optional>

namespace strato {

struct FuzzyMatch {
  int score = 0;           // higher is better; 0 for an empty query
  QVector<int> positions;  // of the query's letters in the text, ascending
};

// Nothing where the letters are not there. Blanks of the query match nothing and everything. Of all
// the ways in which they may be found, the one with the best score.
std::optional<FuzzyMatch> fuzzy_match(const QString& query, const QString& text);

}  // namespace strato
