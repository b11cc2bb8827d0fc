// Pictures as SVG files that other programs draw as this one does.
#pragma once

#include <QByteArray>
#include <QSize>
#include <QString>
#include <functional>

class QPainter;

namespace strato::style {

// Qt writes brush patterns as rectangles under masks, which many viewers paint black. Returns the
// same picture with patterns of plain rectangles.
QByteArray with_plain_patterns(const QByteArray& svg);

// `paint` draws `size`. False: the file cannot be written.
bool write_svg(const QString& file, QSize size, const QString& title,
               const std::function<void(QPainter&)>& paint);

}  // namespace strato::style
