#include "views/style/svg_file.h"

#include <QBuffer>
#include <QHash>
#include <QPainter>
#include <QRect>
#include <QRegularExpression>
#include <QSaveFile>
#include <QSvgGenerator>

namespace strato::style {

QByteArray with_plain_patterns(const QByteArray& svg) {
  static const QRegularExpression mask(QStringLiteral("<mask id=\"([^\"]*)\"[^>]*>(.*?)</mask>"),
                                       QRegularExpression::DotMatchesEverythingOption);
  static const QRegularExpression masked(
      QStringLiteral("<rect [^>]*fill=\"([^\"]*)\"[^>]*mask=\"url\\(#([^)]*)\\)\"[^>]*/>"));
  QString text = QString::fromUtf8(svg);
  QHash<QString, QString> rectangles;
  for (auto each = mask.globalMatch(text); each.hasNext();) {
    const QRegularExpressionMatch match = each.next();
    rectangles.insert(match.captured(1), match.captured(2));
  }
  if (rectangles.isEmpty()) return svg;
  text.remove(mask);
  QString result;
  qsizetype done = 0;
  for (auto each = masked.globalMatch(text); each.hasNext();) {
    const QRegularExpressionMatch match = each.next();
    result += text.mid(done, match.capturedStart() - done);
    result += QStringLiteral("<g stroke=\"none\" fill=\"%1\">%2</g>")
                  .arg(match.captured(1), rectangles.value(match.captured(2)));
    done = match.capturedEnd();
  }
  return (result + text.mid(done)).toUtf8();
}

bool write_svg(const QString& file, QSize size, const QString& title,
               const std::function<void(QPainter&)>& paint) {
  QBuffer buffer;
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(0, 0), size));
  generator.setTitle(title);
  QPainter painter(&generator);
  paint(painter);
  if (!painter.end() || buffer.data().isEmpty()) return false;
  QSaveFile out(file);
  const QByteArray picture = with_plain_patterns(buffer.data());
  return out.open(QIODevice::WriteOnly) && out.write(picture) == picture.size() && out.commit();
}

}  // namespace strato::style
