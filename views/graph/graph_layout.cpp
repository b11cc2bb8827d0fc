#include "views/graph/graph_layout.h"

#include <QTextStream>
#include <algorithm>
#include <cmath>

namespace strato {
namespace {

constexpr double kInch = 72, kNodeGap = 16, kLayerGap = 36;

QRectF bounds_of(const GraphLayout& layout) {
  QRectF bounds;
  for (const QRectF& node : layout.nodes) bounds |= node;
  for (const QPolygonF& edge : layout.edges) bounds |= edge.boundingRect();
  return bounds.adjusted(-8, -8, 8, 8);
}

// Edges as seen by the layers: those that close a cycle are turned round.
class Layers {
 public:
  explicit Layers(const LayoutRequest& request) : request_(request) {
    const std::size_t count = request.nodes.size();
    out_.resize(count), in_.resize(count), layer_.assign(count, 0);
    cut_cycles();
    rank();
    order();
  }

  GraphLayout place() const {
    const bool down = request_.direction == FlowDirection::Down;
    GraphLayout layout;
    layout.approximate = true;
    layout.nodes.resize(request_.nodes.size());
    double widest = 0;
    const auto across = [&](int n) { return down ? node(n).width() : node(n).height(); };
    const auto along = [&](int n) { return down ? node(n).height() : node(n).width(); };
    std::vector<double> widths;
    for (const auto& members : layers_) {
      double width = -kNodeGap;
      for (const int n : members) width += across(n) + kNodeGap;
      widths.push_back(width);
      widest = std::max(widest, width);
    }
    double flow = 0;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      double at = (widest - widths[l]) / 2, deepest = 0;
      for (const int n : layers_[l]) {
        const QPointF corner = down ? QPointF(at, flow) : QPointF(flow, at);
        layout.nodes[static_cast<std::size_t>(n)] = QRectF(corner, node(n));
        at += across(n) + kNodeGap;
        deepest = std::max(deepest, along(n));
      }
      flow += deepest + kLayerGap;
    }
    for (const auto& edge : request_.edges) layout.edges.push_back(curve(layout, edge, down));
    layout.bounds = bounds_of(layout);
    return layout;
  }

 private:
  const QSizeF& node(int n) const { return request_.nodes[static_cast<std::size_t>(n)]; }

  void cut_cycles() {
    const std::size_t count = request_.nodes.size();
    std::vector<std::vector<int>> next(count);
    for (const auto& edge : request_.edges) {
      if (edge.from != edge.to) next[static_cast<std::size_t>(edge.from)].push_back(edge.to);
    }
    std::vector<char> state(count, 0);  // 0 new, 1 on the walk, 2 done
    std::vector<std::pair<int, std::size_t>> walk;
    for (std::size_t start = 0; start < count; ++start) {
      if (state[start] != 0) continue;
      walk.push_back({static_cast<int>(start), 0});
      state[start] = 1;
      while (!walk.empty()) {
        const auto at = static_cast<std::size_t>(walk.back().first);
        if (walk.back().second == next[at].size()) {
          state[at] = 2;
          walk.pop_back();
          continue;
        }
        const int to = next[at][walk.back().second++];
        const auto index = static_cast<std::size_t>(to);
        const bool closes = state[index] == 1;
        out_[closes ? index : at].push_back(closes ? static_cast<int>(at) : to);
        in_[closes ? at : index].push_back(closes ? to : static_cast<int>(at));
        if (state[index] == 0) {
          state[index] = 1;
          walk.push_back({to, 0});
        }
      }
    }
  }

  void rank() {
    std::vector<std::size_t> waiting(in_.size());
    std::vector<int> ready;
    for (std::size_t n = 0; n < in_.size(); ++n) {
      waiting[n] = in_[n].size();
      if (waiting[n] == 0) ready.push_back(static_cast<int>(n));
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const auto n = static_cast<std::size_t>(ready[i]);
      for (const int to : out_[n]) {
        const auto t = static_cast<std::size_t>(to);
        layer_[t] = std::max(layer_[t], layer_[n] + 1);
        if (--waiting[t] == 0) ready.push_back(to);
      }
    }
    for (std::size_t n = 0; n < layer_.size(); ++n) {
      if (layers_.size() <= layer_[n]) layers_.resize(layer_[n] + 1);
      layers_[layer_[n]].push_back(static_cast<int>(n));
    }
  }

  void order() {
    std::vector<double> position(in_.size());
    const auto number = [&](const std::vector<int>& members) {
      for (std::size_t i = 0; i < members.size(); ++i) {
        position[static_cast<std::size_t>(members[i])] =
            static_cast<double>(i) - static_cast<double>(members.size()) / 2;
      }
    };
    for (const auto& members : layers_) number(members);
    for (int sweep = 0; sweep < 6; ++sweep) {
      const bool forward = sweep % 2 == 0;
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        auto& members = layers_[forward ? i : layers_.size() - 1 - i];
        std::vector<std::pair<double, int>> keyed;
        for (const int n : members) {
          const auto& neighbours = (forward ? in_ : out_)[static_cast<std::size_t>(n)];
          double sum = 0;
          for (const int other : neighbours) sum += position[static_cast<std::size_t>(other)];
          const double own = position[static_cast<std::size_t>(n)];
          keyed.push_back(
              {neighbours.empty() ? own : sum / static_cast<double>(neighbours.size()), n});
        }
        std::stable_sort(keyed.begin(), keyed.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t k = 0; k < keyed.size(); ++k) members[k] = keyed[k].second;
        number(members);
      }
    }
  }

  static QPolygonF curve(const GraphLayout& layout, const LayoutRequest::Edge& edge, bool down) {
    const QRectF& a = layout.nodes[static_cast<std::size_t>(edge.from)];
    const QRectF& b = layout.nodes[static_cast<std::size_t>(edge.to)];
    if (edge.from == edge.to) return {};
    QPointF from, to, pull;
    if (down) {
      const bool forward = b.center().y() >= a.center().y();
      from = {a.center().x(), forward ? a.bottom() : a.top()};
      to = {b.center().x(), forward ? b.top() : b.bottom()};
      pull = {0, (to.y() - from.y()) / 2};
    } else {
      const bool forward = b.center().x() >= a.center().x();
      from = {forward ? a.right() : a.left(), a.center().y()};
      to = {forward ? b.left() : b.right(), b.center().y()};
      pull = {(to.x() - from.x()) / 2, 0};
    }
    return QPolygonF({from, from + pull, to - pull, to});
  }

  const LayoutRequest& request_;
  std::vector<std::vector<int>> out_, in_;
  std::vector<std::size_t> layer_;
  std::vector<std::vector<int>> layers_;
};

}  // namespace

QByteArray to_dot(const LayoutRequest& request) {
  QByteArray text;
  QTextStream out(&text);
  out << "digraph g {\nrankdir=" << (request.direction == FlowDirection::Down ? "TB" : "LR")
      << "; nodesep=0.2; ranksep=0.42; node [shape=box, fixedsize=true, label=\"\"]; edge "
         "[arrowhead=none];\n";
  for (std::size_t i = 0; i < request.nodes.size(); ++i) {
    out << "n" << i << " [width=" << request.nodes[i].width() / kInch
        << ", height=" << request.nodes[i].height() / kInch << "];\n";
  }
  for (const auto& edge : request.edges) {
    out << "n" << edge.from << " -> n" << edge.to
        << " [weight=" << std::lround(std::max(1.0, edge.weight)) << "];\n";
  }
  out << "}\n";
  out.flush();
  return text;
}

std::optional<GraphLayout> parse_plain(const QByteArray& answer, const LayoutRequest& request) {
  GraphLayout layout;
  layout.nodes.resize(request.nodes.size());
  layout.edges.resize(request.edges.size());
  std::vector<std::vector<std::size_t>> edges_from(request.nodes.size());
  for (std::size_t e = request.edges.size(); e-- > 0;) {
    edges_from[static_cast<std::size_t>(request.edges[e].from)].push_back(e);  // the first is last
  }
  const auto node_index = [&](const QByteArray& name) -> std::optional<std::size_t> {
    bool ok = false;
    const auto index = name.mid(1).toULongLong(&ok);
    return ok && name.startsWith('n') && index < request.nodes.size() ? std::optional(index)
                                                                      : std::nullopt;
  };
  double height = 0;
  std::size_t nodes = 0;
  bool complete = false;
  for (const QByteArray& line : answer.split('\n')) {
    const QList<QByteArray> words = line.simplified().split(' ');
    if (words[0] == "graph" && words.size() >= 4) height = words[3].toDouble();
    if (words[0] == "stop") complete = true;
    const auto point = [&](qsizetype at) {
      return QPointF(words[at].toDouble() * kInch, (height - words[at + 1].toDouble()) * kInch);
    };
    if (words[0] == "node" && words.size() >= 6) {
      const auto index = node_index(words[1]);
      if (!index) return std::nullopt;
      QRectF box(QPointF(0, 0), request.nodes[*index]);
      box.moveCenter(point(2));
      layout.nodes[*index] = box;
      ++nodes;
    } else if (words[0] == "edge" && words.size() >= 4) {
      const auto from = node_index(words[1]), to = node_index(words[2]);
      const qsizetype count = words[3].toLongLong();
      if (!from || !to || count < 4 || words.size() < 4 + 2 * count) return std::nullopt;
      auto& candidates = edges_from[*from];
      const auto found = std::find_if(candidates.rbegin(), candidates.rend(), [&](std::size_t e) {
        return static_cast<std::size_t>(request.edges[e].to) == *to && layout.edges[e].isEmpty();
      });
      if (found == candidates.rend()) return std::nullopt;
      for (qsizetype i = 0; i < count; ++i) layout.edges[*found] << point(4 + 2 * i);
    }
  }
  if (!complete || nodes != request.nodes.size()) return std::nullopt;
  layout.bounds = bounds_of(layout);
  return layout;
}

GraphLayout layered_layout(const LayoutRequest& request) { return Layers(request).place(); }

double fit_scale(const GraphLayout& layout, const QSizeF& view) {
  if (layout.bounds.isEmpty()) return 1;
  return std::min(view.width() / layout.bounds.width(), view.height() / layout.bounds.height());
}

}  // namespace strato
