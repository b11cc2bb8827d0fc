#include "views/inspector/facts.h"

#include <QGridLayout>
#include <QLabel>

#include "views/style/style.h"

namespace strato {
namespace {

void colour_text(QLabel& label, const QColor& colour) {
  QPalette palette = label.palette();
  palette.setColor(QPalette::WindowText, colour);
  label.setPalette(palette);
}

constexpr qsizetype kLongLabel = 22;  // characters

}  // namespace

Facts::Facts(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(3 * style::kGrid);
  grid_->setVerticalSpacing(style::kGrid / 2);
  grid_->setColumnStretch(1, 1);
}

Facts::Row& Facts::row(std::size_t index) {
  while (rows_.size() <= index) {
    Row row{new QLabel(this), new QLabel(this)};
    row.value->setAlignment(Qt::AlignRight | Qt::AlignTop);
    row.value->setWordWrap(true);
    row.value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row.label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    const int line = static_cast<int>(rows_.size());
    grid_->addWidget(row.label, line, 0);
    grid_->addWidget(row.value, line, 1);
    rows_.push_back(row);
  }
  return rows_[index];
}

void Facts::show_facts(const std::vector<Fact>& facts) {
  for (std::size_t i = 0; i < facts.size(); ++i) {
    Row& row = this->row(i);
    row.label->setText(facts[i].label);
    row.label->setWordWrap(facts[i].label.size() > kLongLabel);  // else it pushes the value out
    row.value->setText(facts[i].value);
    colour_text(*row.label, style::muted_text(palette()));
    colour_text(*row.value, facts[i].bad ? style::infeasible(style::is_dark(palette()))
                                         : palette().color(QPalette::WindowText));
    QFont font = this->font();
    font.setItalic(facts[i].estimated);
    row.value->setFont(font);
    row.label->setToolTip(facts[i].tip);
    row.value->setToolTip(facts[i].tip);
    row.label->show();
    row.value->show();
  }
  for (std::size_t i = facts.size(); i < rows_.size(); ++i) {
    rows_[i].label->hide();
    rows_[i].value->hide();
  }
}

QLabel* make_heading(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  QFont font = label->font();
  font.setWeight(QFont::DemiBold);
  label->setFont(font);
  label->setContentsMargins(0, 3 * style::kGrid, 0, 0);
  return label;
}

QString bullets(const std::vector<std::string>& lines) {
  QStringList list;
  for (const std::string& line : lines) {
    QString text = QString::fromStdString(line);
    if (!text.isEmpty()) text[0] = text[0].toUpper();
    list << QStringLiteral("• ") + text;
  }
  return list.join(QLatin1Char('\n'));
}

QString share_text(double fraction) {
  return fraction > 0 && fraction < 0.001 ? QStringLiteral("< 0.1 %") : style::percent(fraction);
}

QLabel* make_title(QWidget* parent) {
  auto* label = new QLabel(parent);
  QFont font = label->font();
  font.setPointSizeF(font.pointSizeF() * 1.25);
  font.setWeight(QFont::DemiBold);
  label->setFont(font);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

QLabel* make_note(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

}  // namespace strato
