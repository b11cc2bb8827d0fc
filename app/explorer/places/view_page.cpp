#include "app/explorer/places/view_page.h"

#include <QCoreApplication>
#include <QEvent>

namespace strato {
namespace {

// Tells the page the least size of the view. With a layout, the page would take the view to need
// the height that it would like to have at this width.
class Holder : public QWidget {
 public:
  Holder(QWidget* view, QWidget* page) : view_(view), page_(page) { view->setParent(this); }
  QSize minimumSizeHint() const override {
    return view_->minimumSizeHint().expandedTo(view_->minimumSize());
  }
  QSize sizeHint() const override { return view_->sizeHint(); }

 protected:
  void resizeEvent(QResizeEvent*) override { view_->setGeometry(rect()); }
  bool event(QEvent* event) override {
    if (event->type() == QEvent::LayoutRequest)
      QCoreApplication::postEvent(page_, new QEvent(QEvent::LayoutRequest));
    return QWidget::event(event);
  }

 private:
  QWidget *view_, *page_;
};

}  // namespace

ViewPage::ViewPage(QWidget* view) : view_(view) {
  setFrameShape(QFrame::NoFrame);
  setWidgetResizable(true);
  setFocusPolicy(Qt::NoFocus);
  setFocusProxy(view);
  setWidget(new Holder(view, this));
  view->show();
}

ViewPage* ViewPage::of(QWidget* view) {
  for (QWidget* at = view; at; at = at->parentWidget())
    if (auto* page = dynamic_cast<ViewPage*>(at)) return page;
  return nullptr;
}

}  // namespace strato
