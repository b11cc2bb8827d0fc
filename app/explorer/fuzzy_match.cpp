#include "app/explorer/fuzzy_match.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace strato {
namespace {

constexpr int kLetter = 1, kWordStart = 8, kTextStart = 4, kAdjacent = 9;
constexpr int kNever = std::numeric_limits<int>::min() / 2;
// Nobody reads further; names may have any length.
constexpr qsizetype kMostQuery = 64, kMostText = 400;

QString letters_of(const QString& query) {
  QString letters;
  for (const QChar c : query.left(kMostQuery)) {
    if (!c.isSpace()) letters += c.toCaseFolded();
  }
  return letters;
}

bool starts_word(const QString& text, qsizetype at) {
  if (at == 0) return true;
  const QChar before = text[at - 1], here = text[at];
  if (!before.isLetterOrNumber()) return here.isLetterOrNumber();
  return (before.isLower() && here.isUpper()) || (before.isLetter() && here.isDigit());
}

bool has_in_order(const QString& letters, const QString& folded) {
  qsizetype from = 0;
  for (const QChar c : letters) {
    const qsizetype at = folded.indexOf(c, from);
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
}

// Letter by letter, the best score with this letter at that place, and where the one before was.
class BestPlaces {
 public:
  BestPlaces(const QString& letters, const QString& text, const QString& folded)
      : letters_(letters), text_(text), folded_(folded) {
    for (qsizetype i = 0; i < letters_.size(); ++i) add_letter(i);
  }

  FuzzyMatch best() const {
    FuzzyMatch match;
    const auto last = std::max_element(scores_.begin(), scores_.end());
    match.score = *last;
    match.positions.resize(letters_.size());
    auto at = static_cast<int>(last - scores_.begin());
    for (qsizetype i = letters_.size(); i-- > 0;) {
      match.positions[i] = at;
      at = before_[static_cast<std::size_t>(i)][static_cast<std::size_t>(at)];
    }
    return match;
  }

 private:
  void add_letter(qsizetype i) {
    const auto size = static_cast<std::size_t>(folded_.size());
    std::vector<int> scores(size, kNever), from(size, -1);
    int best = i == 0 ? 0 : kNever, best_at = -1;  // of the letters before, further left
    for (std::size_t at = 0; at < size; ++at) {
      const bool here = folded_[static_cast<qsizetype>(at)] == letters_[i];
      if (here && best > kNever) {
        scores[at] = best + worth(at);
        from[at] = best_at;
      }
      if (i == 0) continue;
      const int adjacent = at > 0 ? scores_[at - 1] : kNever;
      if (here && adjacent > kNever && adjacent + kAdjacent + worth(at) > scores[at]) {
        scores[at] = adjacent + kAdjacent + worth(at);
        from[at] = static_cast<int>(at) - 1;
      }
      if (scores_[at] > best) {
        best = scores_[at];
        best_at = static_cast<int>(at);
      }
    }
    scores_ = std::move(scores);
    before_.push_back(std::move(from));
  }

  int worth(std::size_t at) const {
    const auto place = static_cast<qsizetype>(at);
    return kLetter + (starts_word(text_, place) ? kWordStart : 0) + (place == 0 ? kTextStart : 0);
  }

  const QString &letters_, &text_, &folded_;
  std::vector<int> scores_;
  std::vector<std::vector<int>> before_;
};

}  // namespace

std::optional<FuzzyMatch> fuzzy_match(const QString& query, const QString& text) {
  const QString letters = letters_of(query), read = text.left(kMostText);
  if (letters.isEmpty()) return FuzzyMatch{};
  QString folded = read;
  for (QChar& c : folded) c = c.toCaseFolded();
  if (!has_in_order(letters, folded)) return std::nullopt;
  return BestPlaces(letters, read, folded).best();
}

}  // namespace strato
