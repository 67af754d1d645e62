// The yardstick: FlatBuffers and Cap'n Proto in C++, on bank/100 and frame/500.
//
//   native FOLDER NANOSECONDS
//
// FOLDER holds the messages in FlatBuffers' bytes and their checksums, as the Go
// side made them. Each benchmark runs for about so many nanoseconds of CPU time and prints
// a line: scenario, operation, implementation, variant, nanoseconds, with tabs.
#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "bench.capnp.h"
#include "bench_generated.h"

using u64 = uint64_t;

// Sum is the checksum of package scenario.
struct Sum {
  u64 sum = 0, weight = 0x9E3779B97F4A7C15;
  inline Sum& u(u64 v) {
    sum += v * weight;
    weight += 0xC2B2AE3D27D4EB4E;
    return *this;
  }
  inline Sum& f(float v) {
    uint32_t b;
    memcpy(&b, &v, 4);
    return u(b);
  }
  inline Sum& bytes(const char* p, size_t n) {
    return u(n == 0 ? 0 : u64(n) << 16 | u64(uint8_t(p[0])) << 8 | u64(uint8_t(p[n - 1])));
  }
};

struct Entry {
  u64 account;
  int64_t amount;
  std::optional<std::string> memo;
};
struct Transaction {
  u64 id;
  int64_t timestamp;
  std::string reference, currency;
  std::vector<Entry> entries;
};
struct Vec3 {
  float x, y, z;
};
struct Entity {
  uint32_t id;
  Vec3 position, velocity;
  uint16_t health;
  bool flag;
};
struct Frame {
  u64 tick;
  std::vector<Entity> entities;
};

static std::string load(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  if (!f) {
    fprintf(stderr, "native: cannot read %s\n", path.c_str());
    exit(1);
  }
  return {std::istreambuf_iterator<char>(f), {}};
}

static double target = 1e7;  // nanoseconds a benchmark runs
static volatile u64 sink;

template <class Fn>
static void bench(const char* scenario, const char* op, const char* peer, const char* variant, Fn fn) {
  auto cpu = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
  };
  auto run = [&](u64 n) {
    double t = cpu();
    for (u64 i = 0; i < n; i++) {
      sink = fn();
      asm volatile("" ::: "memory");
    }
    return cpu() - t;
  };
  u64 n = 1;
  double took = run(n);
  while (took < target / 4) took = run(n *= 2);
  n = u64(n * target / took) + 1;
  printf("%s\t%s\t%s\t%s\t%.2f\n", scenario, op, peer, variant, run(n) / n);
}

// opaque keeps the compiler from knowing what a pointer points to.
template <class T>
static inline T* opaque(T* p) {
  asm volatile("" : "+r"(p)::"memory");
  return p;
}

// FlatBuffers.

using Builder = flatbuffers::FlatBufferBuilder;

static void write(Builder& b, std::vector<flatbuffers::Offset<fb::Entry>>& offsets, const Transaction& t) {
  b.Clear();
  offsets.clear();
  for (auto& e : t.entries) {
    flatbuffers::Offset<flatbuffers::String> memo = 0;
    if (e.memo) memo = b.CreateString(*e.memo);
    offsets.push_back(fb::CreateEntry(b, e.account, e.amount, memo));
  }
  auto entries = b.CreateVector(offsets);
  auto reference = b.CreateString(t.reference), currency = b.CreateString(t.currency);
  b.Finish(fb::CreateTransaction(b, t.id, t.timestamp, reference, currency, entries));
}

static u64 read(const fb::Transaction* t) {
  Sum s;
  s.u(t->id()).u(t->timestamp());
  s.bytes(t->reference()->c_str(), t->reference()->size()).bytes(t->currency()->c_str(), t->currency()->size());
  s.u(t->entries()->size());
  for (auto e : *t->entries()) {
    s.u(e->account()).u(e->amount());
    if (auto m = e->memo())
      s.u(1).bytes(m->c_str(), m->size());
    else
      s.u(0);
  }
  return s.sum;
}

static void write(Builder& b, std::vector<flatbuffers::Offset<fb::Entity>>& offsets, const Frame& f) {
  b.Clear();
  offsets.clear();
  for (auto& e : f.entities) {
    fb::Vec3 p(e.position.x, e.position.y, e.position.z), v(e.velocity.x, e.velocity.y, e.velocity.z);
    offsets.push_back(fb::CreateEntity(b, e.id, &p, &v, e.health, e.flag));
  }
  b.Finish(fb::CreateFrame(b, f.tick, b.CreateVector(offsets)));
}

template <class E>
static inline void add(Sum& s, const E& e, const fb::Vec3& p, const fb::Vec3& v) {
  s.u(e.id()).f(p.x()).f(p.y()).f(p.z()).f(v.x()).f(v.y()).f(v.z()).u(e.health()).u(e.flag());
}

static u64 read(const fb::Frame* f) {
  Sum s;
  s.u(f->tick()).u(f->entities()->size());
  for (auto e : *f->entities()) add(s, *e, *e->position(), *e->velocity());
  return s.sum;
}

static void writeStructs(Builder& b, const Frame& f) {
  b.Clear();
  fb::EntityS* out;
  auto entities = b.CreateUninitializedVectorOfStructs(f.entities.size(), &out);
  for (auto& e : f.entities)
    *out++ = fb::EntityS(e.id, fb::Vec3(e.position.x, e.position.y, e.position.z),
                         fb::Vec3(e.velocity.x, e.velocity.y, e.velocity.z), e.health, e.flag);
  b.Finish(fb::CreateFrameS(b, f.tick, entities));
}

static u64 read(const fb::FrameS* f) {
  Sum s;
  s.u(f->tick()).u(f->entities()->size());
  for (auto e : *f->entities()) add(s, *e, e->position(), e->velocity());
  return s.sum;
}

template <class T>
static void flat(const char* scenario, const char* peer, const std::vector<uint8_t>& buf, u64 want) {
  auto get = [&] { return flatbuffers::GetRoot<T>(opaque(buf.data())); };
  auto verify = [&] {
    flatbuffers::Verifier v(opaque(buf.data()), buf.size(), 64, 10000000);
    if (!v.VerifyBuffer<T>(nullptr)) abort();
  };
  if (read(get()) != want) {
    fprintf(stderr, "native: %s of %s has another checksum than Go's\n", peer, scenario);
    exit(1);
  }
  bench(scenario, "read all", peer, "view, trusted", [&] { return read(get()); });
  bench(scenario, "verify and read all", peer, "view, verified", [&] {
    verify();
    return read(get());
  });
}

// Cap'n Proto. The first segment of a builder is one reused buffer.

static std::vector<capnp::word> scratch(1 << 16);

template <class Fn>
static u64 build(Fn fill) {
  capnp::MallocMessageBuilder b(kj::arrayPtr(scratch.data(), scratch.size()), capnp::AllocationStrategy::FIXED_SIZE);
  fill(b);
  auto segments = b.getSegmentsForOutput();
  if (segments.size() != 1) abort();
  return segments[0].size() * 8;
}

static void write(capnp::MessageBuilder& mb, const Transaction& t) {
  auto r = mb.initRoot<cp::Transaction>();
  r.setId(t.id);
  r.setTimestamp(t.timestamp);
  r.setReference(t.reference);
  r.setCurrency(t.currency);
  auto l = r.initEntries(t.entries.size());
  for (size_t i = 0; i < t.entries.size(); i++) {
    auto e = l[i];
    e.setAccount(t.entries[i].account);
    e.setAmount(t.entries[i].amount);
    if (t.entries[i].memo) e.setMemo(*t.entries[i].memo);
  }
}

static u64 read(cp::Transaction::Reader t) {
  Sum s;
  auto text = [&](capnp::Text::Reader r) { s.bytes(r.begin(), r.size()); };
  s.u(t.getId()).u(t.getTimestamp());
  text(t.getReference());
  text(t.getCurrency());
  auto l = t.getEntries();
  s.u(l.size());
  for (auto e : l) {
    s.u(e.getAccount()).u(e.getAmount());
    if (e.hasMemo()) {
      s.u(1);
      text(e.getMemo());
    } else {
      s.u(0);
    }
  }
  return s.sum;
}

static void write(capnp::MessageBuilder& mb, const Frame& f) {
  auto r = mb.initRoot<cp::Frame>();
  r.setTick(f.tick);
  auto l = r.initEntities(f.entities.size());
  for (size_t i = 0; i < f.entities.size(); i++) {
    auto e = l[i];
    auto& from = f.entities[i];
    e.setId(from.id);
    auto p = e.getPosition();
    p.setX(from.position.x);
    p.setY(from.position.y);
    p.setZ(from.position.z);
    auto v = e.getVelocity();
    v.setX(from.velocity.x);
    v.setY(from.velocity.y);
    v.setZ(from.velocity.z);
    e.setHealth(from.health);
    e.setFlag(from.flag);
  }
}

static u64 read(cp::Frame::Reader f) {
  Sum s;
  auto l = f.getEntities();
  s.u(f.getTick()).u(l.size());
  for (auto e : l) {
    auto p = e.getPosition();
    auto v = e.getVelocity();
    s.u(e.getId()).f(p.getX()).f(p.getY()).f(p.getZ()).f(v.getX()).f(v.getY()).f(v.getZ());
    s.u(e.getHealth()).u(e.getFlag());
  }
  return s.sum;
}

template <class T, class M>
static void capn(const char* scenario, const M& m, u64 want) {
  const char* peer = "Cap'n Proto in C++";
  capnp::MallocMessageBuilder mb;
  write(mb, m);
  auto words = capnp::messageToFlatArray(mb);
  auto get = [&] {
    capnp::FlatArrayMessageReader r(words);
    return read(r.getRoot<T>());
  };
  if (get() != want) {
    fprintf(stderr, "native: %s of %s has another checksum than Go's\n", peer, scenario);
    exit(1);
  }
  bench(scenario, "write", peer, "structs, reused arena", [&] { return build([&](auto& b) { write(b, m); }); });
  bench(scenario, "read all", peer, "view, checked access", get);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: native FOLDER NANOSECONDS\n");
    return 2;
  }
  std::string dir = argv[1];
  target = atof(argv[2]);
  std::string bank = load(dir + "/bank_100.fb"), game = load(dir + "/frame_500.fb");
  u64 bankSum = std::stoull(load(dir + "/bank_100.sum")), gameSum = std::stoull(load(dir + "/frame_500.sum"));

  auto t = flatbuffers::GetRoot<fb::Transaction>(bank.data());
  Transaction tx{t->id(), t->timestamp(), t->reference()->str(), t->currency()->str(), {}};
  for (auto e : *t->entries())
    tx.entries.push_back({e->account(), e->amount(), e->memo() ? std::optional<std::string>(e->memo()->str()) : std::nullopt});
  auto f = flatbuffers::GetRoot<fb::Frame>(game.data());
  Frame frame{f->tick(), {}};
  for (auto e : *f->entities()) {
    auto p = e->position(), v = e->velocity();
    frame.entities.push_back({e->id(), {p->x(), p->y(), p->z()}, {v->x(), v->y(), v->z()}, e->health(), e->flag()});
  }

  Builder b(1 << 17);
  std::vector<flatbuffers::Offset<fb::Entry>> entries;
  std::vector<flatbuffers::Offset<fb::Entity>> entities;
  auto bytes = [&] { return std::vector<uint8_t>(b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()); };
  auto writeBank = [&] { return write(b, entries, tx), b.GetSize(); };
  auto writeFrame = [&] { return write(b, entities, frame), b.GetSize(); };
  auto writeFrameS = [&] { return writeStructs(b, frame), b.GetSize(); };

  bench("bank/100", "write", "FlatBuffers in C++", "structs, reused builder", writeBank);
  flat<fb::Transaction>("bank/100", "FlatBuffers in C++", bytes(), bankSum);
  bench("frame/500", "write", "FlatBuffers in C++", "structs, reused builder", writeFrame);
  flat<fb::Frame>("frame/500", "FlatBuffers in C++", bytes(), gameSum);
  bench("frame/500", "write", "FlatBuffers structs in C++", "structs, reused builder", writeFrameS);
  flat<fb::FrameS>("frame/500", "FlatBuffers structs in C++", bytes(), gameSum);
  capn<cp::Transaction>("bank/100", tx, bankSum);
  capn<cp::Frame>("frame/500", frame, gameSum);
}
