"""What actions hold against writes that are still at work: clusterings that give way to them, and writers that detect conflicts early."""
