#include "app/explorer/header_bar.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QStyleOptionToolButton>
#include <QStylePainter>
#include <QToolButton>

#include "app/explorer/header_menus.h"
#include "app/explorer/vital_signs_row.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/usual_planner.h"
#include "views/models/budget.h"
#include "views/models/run_words.h"
#include "views/search/options_form.h"
#include "views/search/planner_list.h"
#include "views/style/elided_label.h"
#include "views/style/stacking.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

// Where there is no room for its text, the middle is left out.
class Chooser : public QToolButton {
 public:
  using QToolButton::QToolButton;
  QSize minimumSizeHint() const override {
    return {fontMetrics().averageCharWidth() * 14, QToolButton::minimumSizeHint().height()};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QStyleOptionToolButton option;
    initStyleOption(&option);
    const int missing = sizeHint().width() - width();
    if (missing > 0)
      option.text = option.fontMetrics.elidedText(
          option.text, Qt::ElideMiddle,
          option.fontMetrics.horizontalAdvance(option.text) - missing);
    QStylePainter(this).drawComplexControl(QStyle::CC_ToolButton, option);
  }
};

QToolButton* make_chooser(QWidget* parent) {
  auto* button = new Chooser(parent);
  button->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  button->setPopupMode(QToolButton::InstantPopup);
  button->setToolButtonStyle(Qt::ToolButtonTextOnly);
  button->setMenu(new QMenu(button));
  QFont font = button->font();
  font.setWeight(QFont::DemiBold);
  button->setFont(font);
  button->setAutoRaise(true);
  return button;
}

// Room for the arrow that the style draws over the text's end.
QString chooser_text(const QString& value) { return value + QStringLiteral("   "); }

// Edits of a strategy with groups of its own say nothing about those of the search.
std::size_t edits_to_pin(const Snapshot& snapshot) {
  return snapshot.has_own_groups() ? 0 : snapshot.edited.size();
}

}  // namespace

HeaderBar::HeaderBar(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(make_chooser(this)),
      cluster_(make_chooser(this)),
      strategy_(new style::ElidedLabel(Qt::ElideMiddle, this, 28)),
      planner_(new QComboBox(this)),
      budget_(new QComboBox(this)),
      options_button_(new QToolButton(this)),
      options_(new OptionsForm(
          [&session](const std::string& planner) {
            return session.plugins().planner(planner)->options();
          },
          this)),
      main_(new QPushButton(this)),
      second_(new QPushButton(this)) {
  build();
  connect(&session_, &Session::problem_changed, this, &HeaderBar::refresh);
  connect(&session_, &Session::problem_changed, this, &HeaderBar::offer_planner);
  connect(&session_, &Session::strategy_changed, this, &HeaderBar::refresh_names);
  connect(&session_, &Session::strategy_changed, this, &HeaderBar::refresh_search);
  connect(&session_, &Session::search_changed, this, &HeaderBar::refresh_search);
  connect(&session_, &Session::busy_changed, this, &HeaderBar::refresh_search);
  connect(model_->menu(), &QMenu::aboutToShow, this,
          [this] { fill_model_menu(*model_->menu(), session_, *this); });
  connect(cluster_->menu(), &QMenu::aboutToShow, this,
          [this] { fill_cluster_menu(*cluster_->menu(), *this); });
  connect(main_, &QPushButton::clicked, this, &HeaderBar::search_or_pause);
  connect(second_, &QPushButton::clicked, this, [this] {
    if (session_.search().state != SearchPhase::Idle) return session_.stop_search();
    if (edits_to_pin(session_.snapshot()) > 0) return continue_with_edits();
    const PlannerOptions more = planner_options();
    session_.continue_search(&more);
  });
  refresh();
}

void HeaderBar::build() {
  model_->setToolTip(tr("The model: open another, change batch, optimizer or groups"));
  cluster_->setToolTip(tr("The cluster that the model runs on"));
  fill_planners();
  fill_refiners();
  build_options();
  budget_->setObjectName(QStringLiteral("budget"));
  planner_->setObjectName(QStringLiteral("planner"));
  budget_->setEditable(true);
  budget_->setInsertPolicy(QComboBox::NoInsert);
  connect(budget_, &QComboBox::currentTextChanged, this, [this](const QString& text) {
    PlannerOptions options;
    if (parse_budget(text, options)) last_budget_ = text;
  });
  budget_->addItems({QStringLiteral("200 iterations"), QStringLiteral("800 iterations"),
                     QStringLiteral("3000 iterations"), QStringLiteral("10 s"),
                     QStringLiteral("30 s"), QStringLiteral("2 min")});
  budget_->setCurrentIndex(1);
  budget_->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
  budget_->setToolTip(tr("How long to search: iterations or time"));
  auto* problem = new QWidget(this);
  auto* names = new QHBoxLayout(problem);
  names->setContentsMargins(0, 0, 0, 0);
  names->setSpacing(2 * style::kGrid);
  names->addWidget(model_);
  names->addWidget(new QLabel(tr("on"), problem));
  names->addWidget(cluster_);
  names->addSpacing(4 * style::kGrid);
  names->addWidget(strategy_, 1);
  above_ = new QBoxLayout(QBoxLayout::LeftToRight);
  above_->setSpacing(style::kGrid);
  above_->addWidget(problem, 1);
  above_->addWidget(build_search_row());
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(3 * style::kGrid, 2 * style::kGrid, 3 * style::kGrid,
                             2 * style::kGrid);
  layout->setSpacing(style::kGrid);
  layout->addLayout(above_);
  vital_signs_ = new VitalSignsRow(session_, this);
  layout->addWidget(vital_signs_);
}

QWidget* HeaderBar::build_search_row() {
  auto* search = new QWidget(this);
  auto* row = new QHBoxLayout(search);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2 * style::kGrid);
  row->addWidget(planner_);
  for (const auto& [name, box] : refiners_) row->addWidget(box);
  row->addWidget(options_button_);
  for (QWidget* widget : std::initializer_list<QWidget*>{budget_, main_, second_})
    row->addWidget(widget);
  row->addStretch(1);
  return search;
}

// One below the other where they have no room beside each other.
QSize HeaderBar::minimumSizeHint() const {
  QSize least = QWidget::minimumSizeHint();
  const int widest = std::max(vital_signs_->minimumSizeHint().width(), stacked_width(*above_));
  const QMargins margins = layout()->contentsMargins();
  least.setWidth(widest + margins.left() + margins.right());
  return least;
}

void HeaderBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const QMargins margins = layout()->contentsMargins();
  int needed = margins.left() + margins.right() + unstacked_width(*above_);
  for (const QToolButton* name : {model_, cluster_}) {  // nearly whole, unless it is very long
    const int longest = fontMetrics().averageCharWidth() * 32;
    needed +=
        std::max(0, std::min(name->sizeHint().width(), longest) - name->minimumSizeHint().width());
  }
  if (stack(*above_, width() < needed)) updateGeometry();
}

void HeaderBar::fill_planners() {
  list_planners(*planner_, session_.plugins().list(PluginKind::Planner));
  planner_->setCurrentIndex(planner_->findText(QStringLiteral("mcts")));
  connect(planner_, &QComboBox::activated, this, [this] { planner_is_chosen_ = true; });
  // As wide as its name: the longest would take the room of what is shown.
  planner_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  const auto fit = [this] {
    planner_->setMinimumContentsLength(static_cast<int>(planner_->currentText().size()));
  };
  connect(planner_, &QComboBox::currentTextChanged, this, fit);
  fit();
  planner_->setToolTip(tr("The planner: the algorithm that searches for a strategy"));
  planner_->setEnabled(planner_->count() > 0);
}

// What goes over a planner's result, one box each: "SFB".
void HeaderBar::fill_refiners() {
  for (const PluginInfo& refiner : session_.plugins().list(PluginKind::Refiner)) {
    auto* box = new QCheckBox(text(refiner.name).toUpper(), this);
    box->setToolTip(refiner.name == "sfb"
                        ? tr("Duplicate small factors (SFB): devices exchange the "
                             "factors of a gradient where that is less than the gradient")
                        : text(refiner.summary));
    refiners_.emplace_back(text(refiner.name), box);
  }
}

void HeaderBar::build_options() {
  options_->setWindowFlags(Qt::Popup);
  options_->setFrameShape(QFrame::StyledPanel);
  options_button_->setAutoRaise(true);
  connect(options_button_, &QToolButton::clicked, this, &HeaderBar::show_options);
  connect(options_, &OptionsForm::changed, this, &HeaderBar::refresh_options);
  connect(planner_, &QComboBox::currentIndexChanged, this, &HeaderBar::refresh_options);
  for (const auto& [name, box] : refiners_)
    connect(box, &QCheckBox::toggled, this, &HeaderBar::refresh_options);
  refresh_options();
}

void HeaderBar::show_options() {
  if (!options_button_->isEnabled()) return;
  options_->show_planner(planner());
  const QSize wanted = QSize(104, 128) * style::kGrid;
  const QRect window_area = window()->geometry();
  options_->resize(wanted.boundedTo(window_area.size() * 0.9));
  const QPoint below = options_button_->mapToGlobal(QPoint(0, options_button_->height()));
  options_->move(
      std::max(window_area.left(), std::min(below.x(), window_area.right() - options_->width())),
      below.y());
  options_->show();
}

void HeaderBar::refresh_options() {
  const int changes = options_->changes(planner());
  options_button_->setText(changes == 0 ? tr("Options…") : tr("Options (%1)…").arg(changes));
  const QString description = options_->description(planner());
  options_button_->setToolTip(description.isEmpty() ? tr("What else the planner can be asked for")
                                                    : description);
}

QString HeaderBar::planner() const {
  QString name = planner_->currentText();
  for (const auto& [refiner, box] : refiners_) {
    if (box->isChecked()) name += QLatin1Char('+') + refiner;
  }
  return name;
}

void HeaderBar::continue_with_edits() {
  const PlannerOptions more = planner_options();
  session_.continue_with_edits(&more);
}

QString HeaderBar::budget() const { return last_budget_; }

void HeaderBar::set_budget(const QString& text) {
  PlannerOptions options;
  if (parse_budget(text, options)) budget_->setCurrentText(text);
}

PlannerOptions HeaderBar::planner_options() const {
  PlannerOptions options;
  parse_budget(budget_->currentText(), options);
  options_->fill(planner(), options);
  return options;
}

std::optional<PlannerOptions> HeaderBar::options_for(const QString& planner) {
  PlannerOptions options;
  if (!parse_budget(budget_->currentText(), options)) {
    emit session_.message(tr("Write the budget as \"800 iterations\", \"30 s\" or \"2 min\""));
    budget_->setFocus();
    return std::nullopt;
  }
  options_->fill(planner, options);
  return options;
}

void HeaderBar::search_or_pause() {
  switch (session_.search().state) {
    case SearchPhase::Running:
      session_.pause_search();
      break;
    case SearchPhase::Paused:
      session_.continue_search();
      break;
    case SearchPhase::Idle: {
      if (const auto options = options_for(planner())) session_.start_search(planner(), *options);
    }
  }
}

void HeaderBar::refresh() {
  refresh_names();
  refresh_search();
}

void HeaderBar::refresh_names() {
  const auto& problem = session_.snapshot().problem;
  const ProblemOptions* options = session_.problem_options();
  if (problem && options) {
    QString model = model_words(session_);
    if (options->training) {
      QString optimizer = text(name_of(options->optimizer));
      optimizer[0] = optimizer[0].toUpper();
      model += QStringLiteral(" · ") + optimizer;
    }
    model_->setText(chooser_text(model));
  } else {
    model_->setText(chooser_text(tr("No model")));
  }
  QString cluster = session_.cluster_name();
  if (problem) {
    const std::size_t devices = problem->cluster->device_count();
    cluster += QStringLiteral(" · ");
    cluster += devices == 1 ? tr("1 device") : tr("%1 devices").arg(devices);
  }
  cluster_->setText(chooser_text(cluster.isEmpty() ? tr("No cluster") : cluster));
  const QString label = session_.snapshot().label;
  strategy_->setText(label.isEmpty() ? QString() : tr("Strategy: %1").arg(label));
  strategy_->setToolTip(label);
}

// What suits the problem, as long as nobody has chosen one.
void HeaderBar::offer_planner() {
  const Snapshot& now = session_.snapshot();
  if (planner_is_chosen_ || !now.problem) return;
  const bool fits = !now.baseline || now.baseline->score.feasible;
  const int index = planner_->findText(text(usual_planner(*now.problem, fits)));
  if (index >= 0) planner_->setCurrentIndex(index);
}

void HeaderBar::refresh_search() {
  const SearchStatus& search = session_.search();
  const bool idle = search.state == SearchPhase::Idle;
  const bool ready = session_.snapshot().problem && planner_->count() > 0;
  main_->setText(idle                                   ? tr("Search")
                 : search.state == SearchPhase::Running ? tr("Pause")
                                                        : tr("Continue"));
  main_->setEnabled(ready);
  const auto edits = edits_to_pin(session_.snapshot());
  const bool pins = idle && search.can_continue && edits > 0;
  second_->setText(!idle ? tr("Stop") : pins ? tr("Continue, edits pinned") : tr("Continue"));
  second_->setEnabled(!idle ||
                      search.can_continue);  // there all the time: the others keep their place
  second_->setToolTip(
      !idle                  ? tr("Stops and keeps the best so far")
      : !search.can_continue ? tr("Goes on in the tree of a search: show a run that has one")
      : edits == 0
          ? tr("Goes on in the tree of %1").arg(search.run)
          : tr("Goes on in the tree of %1 and keeps to what you decided for "
               "%2 (Ctrl+F5 goes on without)")
                .arg(search.run, edits == 1 ? tr("one group") : tr("%1 groups").arg(edits)));
  planner_->setEnabled(idle && planner_->count() > 0);
  for (const auto& [name, box] : refiners_) box->setEnabled(idle);
  budget_->setEnabled(idle);
  options_button_->setEnabled(idle && planner_->count() > 0);
}

}  // namespace strato
