// Suggestions of single changes (views/models/suggestions.h): what each would gain, and a button
// that makes it.
#pragma once

#include <QWidget>

#include "views/models/suggestions.h"

class QGridLayout;
class QLabel;
class QPushButton;

namespace strato {

class SuggestionBox : public QWidget {
  Q_OBJECT
 public:
  explicit SuggestionBox(Session& session, QWidget* parent = nullptr);
  Suggestions& suggestions() { return *suggestions_; }

 private:
  struct Row {
    QLabel *gain, *words;
    QPushButton* apply;
  };
  Row& row(std::size_t number);
  void refresh();

  Session& session_;
  Suggestions* suggestions_;
  QLabel* note_;
  QGridLayout* grid_;
  std::vector<Row> rows_;
};

}  // namespace strato
