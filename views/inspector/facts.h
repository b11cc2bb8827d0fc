// Pairs of a label and a value, aligned: the inspector's plain figures.
#pragma once

#include <QWidget>
#include <string>
#include <vector>

class QGridLayout;
class QLabel;

namespace strato {

struct Fact {
  QString label, value, tip;
  bool bad = false;        // infeasible: red
  bool estimated = false;  // not measured: italic
};

class Facts : public QWidget {
  Q_OBJECT
 public:
  explicit Facts(QWidget* parent = nullptr);
  void show_facts(const std::vector<Fact>& facts);

 private:
  struct Row {
    QLabel* label;
    QLabel* value;
  };
  Row& row(std::size_t index);

  QGridLayout* grid_;
  std::vector<Row> rows_;
};

// A heading of a part of the inspector, and a line of plain text that wraps.
QLabel* make_heading(const QString& text, QWidget* parent);
QLabel* make_title(QWidget* parent);
QLabel* make_note(QWidget* parent);

// Lines as a list with bullets, each beginning with a capital; plain text.
QString bullets(const std::vector<std::string>& lines);

QString share_text(double fraction);  // a percentage; "< 0.1 %" when it is next to nothing

}  // namespace strato
