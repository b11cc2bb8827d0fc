// Widgets in a row that goes on in another row where there is no more room, as words do. Rows begin
// where reading begins; widgets of a row are centred beside each other.
#pragma once

#include <QLayout>
#include <memory>
#include <vector>

namespace strato::style {

class WrapLayout : public QLayout {
 public:
  explicit WrapLayout(QWidget* parent = nullptr);
  ~WrapLayout() override;

  void addItem(QLayoutItem* item) override;
  int count() const override;
  QLayoutItem* itemAt(int index) const override;
  QLayoutItem* takeAt(int index) override;
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override;     // all in one row
  QSize minimumSize() const override;  // one a row is wide enough
  void setGeometry(const QRect& area) override;

 private:
  // The height that is needed; `place`: where the items are put, too.
  int arrange(const QRect& area, bool place) const;
  int place_row(const QRect& inside, std::size_t begin, std::size_t end, int top, bool place) const;
  bool takes_room(std::size_t index) const;

  std::vector<std::unique_ptr<QLayoutItem>> items_;
};

}  // namespace strato::style
