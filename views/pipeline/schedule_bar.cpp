#include "views/pipeline/schedule_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <algorithm>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/strategy/value/schedule_csv.h"
#include "views/models/micro_batch_edits.h"
#include "views/pipeline/pipeline_words.h"
#include "views/style/elided_label.h"
#include "views/style/file_choice.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kPriceRole = Qt::UserRole;
constexpr std::uintmax_t kMostOfATable = std::uintmax_t{64} << 20;

// A name at the left, what it costs at the right.
class PricedItems : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    painter->save();
    const bool chosen = option.state.testFlag(QStyle::State_Selected);
    painter->setPen(chosen ? option.palette.color(QPalette::HighlightedText)
                           : style::muted_text(option.palette));
    painter->setFont(option.font);
    painter->drawText(option.rect.adjusted(0, 0, -2 * style::kGrid, 0),
                      Qt::AlignRight | Qt::AlignVCenter, index.data(kPriceRole).toString());
    painter->restore();
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const QString price = index.data(kPriceRole).toString();
    return QStyledItemDelegate::sizeHint(option, index) +
           QSize(8 * style::kGrid + option.fontMetrics.horizontalAdvance(price), style::kGrid);
  }
};

// Tells when its list is about to open, which is as wide as its prices.
class PricedBox : public QComboBox {
 public:
  explicit PricedBox(std::function<void()> opens) : opens_(std::move(opens)) {
    setItemDelegate(new PricedItems(this));
    setStyleSheet(QStringLiteral("QComboBox { combobox-popup: 0; }"));
  }
  void showPopup() override {
    opens_();
    QComboBox::showPopup();
  }

 private:
  std::function<void()> opens_;
};

QString edit_label(const MicroBatches& wanted) {
  if (wanted.count == 1) return ScheduleBar::tr("one micro-batch");
  return ScheduleBar::tr("micro-batches: %1").arg(text(describe(wanted)));
}

StrategyChange with_schedule(const MicroBatches& wanted) {
  return [wanted](const Regrouping& from) {
    Strategy strategy = from.strategy;
    strategy.micro_batches = wanted.count == 1 ? MicroBatches() : wanted;
    return strategy;
  };
}

}  // namespace

ScheduleBar::ScheduleBar(Session& session, PipelineModel& model, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(model),
      prices_(new SchedulePrices(session, this)),
      schedule_(new PricedBox([this] {
        if (now() != nullptr) prices_->ask(now()->count);
      })),
      count_(new QComboBox),
      price_(new style::ElidedLabel(Qt::ElideRight, this)),
      apply_(new QPushButton(tr("Apply"))),
      discard_(new QPushButton(tr("Discard"))) {
  build();
  connect(schedule_, &QComboBox::activated, this, &ScheduleBar::choose);
  connect(count_, &QComboBox::activated, this, &ScheduleBar::choose);
  connect(apply_, &QPushButton::clicked, &model_, &PipelineModel::apply);
  connect(discard_, &QPushButton::clicked, &model_, &PipelineModel::forget);
  connect(&model_, &PipelineModel::thought_changed, this, &ScheduleBar::refresh);
  connect(&model_, &PipelineModel::shown_changed, this, &ScheduleBar::refresh);
  connect(&session_, &Session::strategy_changed, this, &ScheduleBar::refresh);
  connect(&session_, &Session::problem_changed, this, &ScheduleBar::refresh);
  connect(prices_, &SchedulePrices::changed, this, &ScheduleBar::refresh_prices);
  refresh();
}

void ScheduleBar::build() {
  schedule_->setAccessibleName(tr("Schedule"));
  schedule_->setToolTip(
      tr("What a stage does next of its micro-batches. A choice is seen with its "
         "price before it is made"));
  count_->setAccessibleName(tr("Micro-batches"));
  count_->setToolTip(tr("Equal parts of the batch that follow each other: those that divide it"));
  for (QComboBox* box : {schedule_, count_}) box->setFocusPolicy(Qt::StrongFocus);
  auto* file = new QToolButton;
  file->setText(tr("File"));
  file->setAccessibleName(tr("Schedule file"));
  file->setToolTip(tr("A table by hand, in the form of PyTorch's pipeline schedules (CSV)"));
  file->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(file);
  const QString filter = tr("Schedules (*.csv);;All files (*)");
  menu->addAction(tr("Open Schedule…"), this, [this, filter] {
    const QString chosen = style::file_to_open(this, tr("Open a schedule"), filter);
    if (!chosen.isEmpty()) open_table(chosen);
  });
  menu->addAction(tr("Save Schedule…"), this, [this, filter] {
    const QString chosen =
        style::file_to_write(this, tr("Save the schedule"), QStringLiteral("schedule.csv"), filter);
    if (!chosen.isEmpty()) save_table(chosen);
  });
  file->setMenu(menu);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  row->setSpacing(2 * style::kGrid);
  row->addWidget(schedule_);
  row->addWidget(count_);
  row->addWidget(price_, 1);
  row->addWidget(apply_);
  row->addWidget(discard_);
  row->addWidget(file);
}

const MicroBatches* ScheduleBar::now() const {
  if (model_.thought()) return &model_.thought()->strategy().micro_batches;
  return session_.snapshot().problem ? &session_.snapshot().strategy.micro_batches : nullptr;
}

// What is chosen stays chosen while its answer is on the way.
void ScheduleBar::refresh() {
  setEnabled(now() != nullptr);
  if (now() != nullptr && !model_.waits() && model_.refusal().isEmpty()) {
    const QSignalBlocker first(schedule_), second(count_);
    counts_ = possible_micro_batches(session_.snapshot().problem->graph->batch(), now()->count);
    count_->clear();
    for (const std::int32_t count : counts_)
      count_->addItem(count == 1 ? tr("1 micro-batch") : tr("%1 micro-batches").arg(count));
    count_->setCurrentIndex(
        static_cast<int>(std::ranges::find(counts_, now()->count) - counts_.begin()));
    schedule_->clear();
    for (const std::string_view name : kPipelineSchedules)
      schedule_->addItem(text(std::string(name)));
    if (now()->schedule == PipelineSchedule::ByHand) schedule_->addItem(tr("by hand"));
    schedule_->setCurrentIndex(static_cast<int>(now()->schedule));
    schedule_->setEnabled(now()->count > 1);
    refresh_prices();
  }
  refresh_price();
}

void ScheduleBar::refresh_prices() {
  for (int item = 0; item < static_cast<int>(kPipelineSchedules.size()); ++item) {
    const SchedulePrices::Answer& answer = prices_->of(static_cast<PipelineSchedule>(item));
    schedule_->setItemData(item,
                           answer.price               ? price_words(*answer.price)
                           : answer.refusal.isEmpty() ? QStringLiteral("…")
                                                      : tr("cannot be"),
                           kPriceRole);
    schedule_->setItemData(item, answer.refusal.isEmpty() ? QVariant() : answer.refusal,
                           Qt::ToolTipRole);
  }
}

void ScheduleBar::refresh_price() {
  QString told = file_trouble_;
  const bool bad = !file_trouble_.isEmpty() || !model_.refusal().isEmpty();
  if (told.isEmpty()) told = model_.refusal();
  if (told.isEmpty() && model_.waits()) told = tr("Simulating…");
  const bool known = model_.shown() && model_.thought();
  const bool changes = known && model_.thought()->strategy() != model_.shown()->strategy();
  if (told.isEmpty() && changes)
    told = change_words(model_.shown()->price(), model_.thought()->price());
  price_->setText(told);
  price_->setToolTip(told);
  QPalette colours = palette();
  const bool fits = !changes || model_.thought()->price().feasible;
  if (bad || !fits)
    colours.setColor(QPalette::WindowText, style::infeasible(style::is_dark(palette())));
  price_->setPalette(colours);
  apply_->setVisible(changes && !model_.waits() && !bad);
  discard_->setVisible(model_.thinks());
}

QString ScheduleBar::price() const { return price_->text(); }

void ScheduleBar::choose() {
  if (now() == nullptr) return;
  MicroBatches wanted = *now();
  const auto schedule = static_cast<PipelineSchedule>(schedule_->currentIndex());
  wanted.count = counts_[static_cast<std::size_t>(count_->currentIndex())];
  if (schedule != wanted.schedule) wanted = {wanted.count, schedule};
  file_trouble_.clear();
  model_.think(with_schedule(wanted), edit_label(wanted));
}

void ScheduleBar::open_table(const QString& file) {
  file_trouble_.clear();
  const std::string path = file.toStdString();
  model_.think(
      [path](const Regrouping& from) {
        const ScheduleTable table = parse_schedule_csv(read_file(path, kMostOfATable), path);
        return with_schedule(by_hand(table, 1))(from);
      },
      tr("schedule by hand"));
}

void ScheduleBar::save_table(const QString& file) {
  file_trouble_.clear();
  if (!model_.seen() || !model_.seen()->is_pipeline()) return;
  try {
    const PipelinePicture& picture = *model_.seen();
    write_file(file.toStdString(), schedule_csv(table_as_run(picture.rows(), picture.plan())));
  } catch (const InputError& error) {
    file_trouble_ = QString::fromUtf8(error.what());
  }
  refresh_price();
}

}  // namespace strato
