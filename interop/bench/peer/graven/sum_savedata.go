package graven

import (
	"github.com/graven-rpc/graven/codec/wire"
	views "github.com/graven-rpc/graven/interop/bench/proto/savedata/v1/savedatav1graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func sumSavedata(v views.Savedata) uint64 {
	l := v.GetPlayers()
	s := scenario.NewSum().U(uint64(l.Len()))
	for i := range l.Len() {
		s = addPlayer(s, l.At(i))
	}
	return s.Value()
}

func addPlayer(s scenario.Sum, p views.Player) scenario.Sum {
	s = s.U(uint64(p.GetGameType())).U(uint64(p.GetPreviousGameType())).U(uint64(p.GetScore()))
	s = s.Str(p.GetDimension()).U(uint64(p.GetSelectedSlot()))
	if p.HasSelectedItem() {
		s = addItem(s.U(1), p.GetSelectedItem())
	} else {
		s = s.U(0)
	}
	if p.HasSpawnDimension() {
		s = s.U(1).Str(p.GetSpawnDimension())
	} else {
		s = s.U(0)
	}
	s = s.U(uint64(p.GetSpawnX())).U(uint64(p.GetSpawnY())).U(uint64(p.GetSpawnZ()))
	if p.HasSpawnForced() {
		s = s.U(1).B(p.GetSpawnForced())
	} else {
		s = s.U(0)
	}
	s = s.U(uint64(p.GetSleepTimer())).F32(p.GetFoodExhaustion()).F32(p.GetFoodSaturation()).U(uint64(p.GetFoodTickTimer()))
	s = s.U(uint64(p.GetXpLevel())).F32(p.GetXpProgress()).U(uint64(p.GetXpTotal())).U(uint64(p.GetXpSeed()))
	s = addItems(addItems(s, p.GetInventory()), p.GetEnderItems())
	a := p.GetAbilities()
	s = s.F32(a.GetWalkSpeed()).F32(a.GetFlySpeed()).B(a.GetMayFly()).B(a.GetFlying())
	s = s.B(a.GetInvulnerable()).B(a.GetMayBuild()).B(a.GetInstaBuild())
	if p.HasNetherPosition() {
		s = addVec3(s.U(1), p.GetNetherPosition())
	} else {
		s = s.U(0)
	}
	if p.HasVehicle() {
		v := p.GetVehicle()
		s = addCreature(addUUID(s.U(1), v.GetUuid()), v.HasCreature(), v.GetCreature())
	} else {
		s = s.U(0)
	}
	s = addCreature(s, p.HasLeftShoulder(), p.GetLeftShoulder())
	s = addCreature(s, p.HasRightShoulder(), p.GetRightShoulder()).B(p.GetSeenCredits())
	if !p.HasRecipeBook() {
		return s.U(0)
	}
	b := p.GetRecipeBook()
	s = addStrings(addStrings(s.U(1), b.GetRecipes()), b.GetDisplayed())
	return s.B(b.GetFilteringCraftable()).B(b.GetGuiOpen()).B(b.GetFurnaceFiltering()).B(b.GetFurnaceGuiOpen()).
		B(b.GetBlastingFiltering()).B(b.GetBlastingFurnaceGuiOpen()).B(b.GetSmokerFiltering()).B(b.GetSmokerGuiOpen())
}

func addItem(s scenario.Sum, i views.Item) scenario.Sum {
	return s.U(uint64(i.GetCount())).U(uint64(i.GetSlot())).Str(i.GetId())
}

func addItems(s scenario.Sum, l wire.ViewList[views.Item]) scenario.Sum {
	s = s.U(uint64(l.Len()))
	for i := range l.All() {
		s = addItem(s, i)
	}
	return s
}

func addStrings(s scenario.Sum, l wire.StringList) scenario.Sum {
	s = s.U(uint64(l.Len()))
	for v := range l.All() {
		s = s.Str(v)
	}
	return s
}

func addVec3(s scenario.Sum, v views.Vec3D) scenario.Sum {
	return s.F64(v.GetX()).F64(v.GetY()).F64(v.GetZ())
}

func addUUID(s scenario.Sum, u views.UUID) scenario.Sum {
	return s.U(uint64(u.GetA())).U(uint64(u.GetB())).U(uint64(u.GetC())).U(uint64(u.GetD()))
}

func addCreature(s scenario.Sum, has bool, c views.Creature) scenario.Sum {
	if !has {
		return s.U(0)
	}
	s = addVec3(addVec3(s.U(1).Str(c.GetId()), c.GetPosition()), c.GetMotion())
	s = s.F32(c.GetYaw()).F32(c.GetPitch()).F32(c.GetFallDistance()).U(uint64(c.GetFire())).U(uint64(c.GetAir()))
	s = s.B(c.GetOnGround()).B(c.GetNoGravity()).B(c.GetInvulnerable()).U(uint64(c.GetPortalCooldown()))
	s = addUUID(s, c.GetUuid())
	if c.HasCustomName() {
		s = s.U(1).Str(c.GetCustomName())
	} else {
		s = s.U(0)
	}
	return s.B(c.GetNameVisible()).B(c.GetSilent()).B(c.GetGlowing())
}
