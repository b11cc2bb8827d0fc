#include "app/explorer/plan_form.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

#include "app/explorer/cluster_fields.h"
#include "app/explorer/model_field.h"
#include "app/explorer/open_files.h"
#include "views/style/style.h"

namespace strato {
namespace {

QLabel* make_title(const QString& text, QWidget* parent) {
  auto* title = new QLabel(text, parent);
  QFont font = title->font();
  font.setWeight(QFont::DemiBold);
  title->setFont(font);
  return title;
}

}  // namespace

PlanForm::PlanForm(QWidget* parent)
    : QWidget(parent),
      model_(new ModelField(this)),
      cluster_(new ClusterFields(this)),
      batch_(new QSpinBox(this)),
      as_written_(new QPushButton(tr("As Written"), this)),
      plan_(new QPushButton(tr("Plan"), this)),
      trouble_(new QLabel(this)) {
  build();
  connect(model_, &ModelField::open_wanted, this, &PlanForm::open_wanted);
  connect(model_, &ModelField::changed, this, &PlanForm::take_model);
  connect(cluster_, &ClusterFields::changed, this, &PlanForm::refresh);
  connect(batch_, &QSpinBox::valueChanged, this, [this] { batch_is_chosen_ = true; });
  connect(plan_, &QPushButton::clicked, this, [this] { plan(); });
  connect(as_written_, &QPushButton::clicked, this, [this] { plan(true); });
  refresh();
}

void PlanForm::build() {
  batch_->setObjectName(QStringLiteral("batch"));
  batch_->setRange(1, std::numeric_limits<int>::max());
  batch_->setAccessibleName(tr("Batch"));
  batch_->setToolTip(tr("Samples in one step, over all devices"));
  plan_->setObjectName(QStringLiteral("plan"));
  plan_->setAutoDefault(true);  // Return presses it
  plan_->setToolTip(tr("Shows a first strategy at once and searches for better ones"));
  as_written_->setObjectName(QStringLiteral("as-written"));
  as_written_->setAutoDefault(true);
  as_written_->setToolTip(
      tr("Shows the strategy that the script itself asks for: its tensor, pipeline and data "
         "parallelism"));
  trouble_->setObjectName(QStringLiteral("plan-trouble"));
  trouble_->setWordWrap(true);
  trouble_->setTextFormat(Qt::PlainText);
  auto* last = new QHBoxLayout;
  last->setSpacing(2 * style::kGrid);
  last->addWidget(make_title(tr("Batch"), this));
  last->addWidget(batch_, 1);
  last->addWidget(as_written_);
  last->addWidget(plan_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2 * style::kGrid);
  column->addWidget(make_title(tr("A model of your own"), this));
  column->addWidget(model_, 1);
  column->addWidget(make_title(tr("On a cluster of machines × GPUs"), this));
  column->addWidget(cluster_);
  column->addLayout(last);
  column->addWidget(trouble_);
}

void PlanForm::choose_model(const QString& file) { model_->choose(file); }
void PlanForm::choose_cluster(const QString& name) { cluster_->set_cluster(name); }

// What a script says of its machines and its batch holds until somebody says otherwise.
void PlanForm::take_model() {
  batch_is_chosen_ = false;
  if (const auto* job = model_->job(); job && (job->machines || job->gpus))
    cluster_->set_size(job->machines, job->gpus);
  refresh();
}

void PlanForm::refresh() {
  const auto* job = model_->job();
  as_written_->setVisible(job != nullptr);
  say({});
  if (batch_is_chosen_) return;
  const std::int64_t devices = cluster_->devices().value_or(1);
  const auto said = job ? job->batch_on(devices) : std::nullopt;
  const std::int64_t batch = said.value_or(std::max(kDefaultBatch, devices));
  const QSignalBlocker quiet(batch_);
  batch_->setValue(
      static_cast<int>(std::min<std::int64_t>(batch, std::numeric_limits<int>::max())));
}

void PlanForm::say(const QString& trouble) {
  trouble_->setText(trouble);
  trouble_->setVisible(!trouble.isEmpty());
}

void PlanForm::plan(bool as_written) {
  model_->read_now();
  const QString cluster = cluster_->cluster();
  if (cluster.isEmpty()) cluster_->focus_name();
  const QString model = model_->model();
  if (model.isEmpty() || cluster.isEmpty()) return;
  emit plan_wanted({model, cluster, batch_->value(), as_written});
}

void PlanForm::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter)
    return QWidget::keyPressEvent(event);
  plan();
}

}  // namespace strato
